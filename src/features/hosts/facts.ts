import type { Check, Evidence, Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import type { ComponentVersion, Datastore, Installation } from '../../kernel/installation.ts';
import type { Kind, KubeObject } from '../../kernel/object.ts';
import type { KeptChange } from '../../kernel/object-change.ts';
import type { RolloutProgress } from '../../kernel/rollout.ts';
import { nodeAddresses, ownNodeAddresses } from '../../kube/lean-objects.ts';
import { ownNodeLabels, syncedNodeLabels } from '../../kube/stored-metadata.ts';
import type { ServiceObjects } from '../policies/index.ts';
import type {
  AfterRemoval,
  AutomaticSettings,
  ChangedPolicy,
  FailsafePorts,
  HostEndpoint,
  NodeFacts,
  NodeVerdict,
} from '../policy-rules/index.ts';
import type { JudgedCli, NoCli, ServiceCli } from '../service-cli/index.ts';
import type { Detail } from '../survey/index.ts';
import type { JudgedBy } from './successor-stands.ts';

/** The variable that overrides the setting of automatic endpoints: what the controllers' workload gives it; undefined where it gives none. */
export type Override = Reading<string | undefined>;

export interface HepFacts {
  readonly installation: Installation;
  readonly cli: ServiceCli | NoCli;
  /** Nodes as read, for guarded patches. */
  readonly nodes: readonly KubeObject[];
  /** The same as endpoints name them: in a key-value store they may have other names. */
  readonly hosts: readonly string[];
  /** Host endpoints as stored, for the undo. */
  readonly stored: readonly KubeObject[];
  /** Kind under which the API stores endpoints; undefined in key-value mode. */
  readonly kind?: Kind;
  /** The same of the controllers' configuration. */
  readonly settingsKind?: Kind;
  readonly settings: AutomaticSettings;
  /** The controllers' configuration; undefined before controllers have ever run. */
  readonly configuration?: KubeObject;
  readonly controllers?: KubeObject;
  readonly override: Override;
  /** The agents' DaemonSet: the controllers may wait for it. */
  readonly agents?: KubeObject;
  /** Unread if a policy could not be understood: no verdict then. */
  readonly verdicts: Reading<readonly NodeVerdict[]>;
  /** Policies whose rules select other hosts: for pods and for endpoints that stay, if the policy is about any. */
  readonly ruleChanges: Reading<readonly ChangedPolicy[]>;
  /** What the verdicts are based on, as read: checked again right before an old endpoint is deleted. */
  readonly judgedBy: readonly JudgedBy[];
  /** Hosts whose old endpoints this command deleted, and which other policies apply to now. */
  readonly after: Reading<readonly AfterRemoval[]>;
  /** True if this command deleted old endpoints: their hosts are evaluated once more. */
  readonly judgesEnd: boolean;
  /** Endpoints of nodes that are not in the cluster. */
  readonly elsewhere: readonly HostEndpoint[];
  /** What the latest migration on this cluster kept before it changed things, in however many runs. */
  readonly kept: readonly KeptChange[];
  readonly rollouts: Reading<readonly RolloutProgress[]>;
  /** Ports that stay open in any case; undefined where nothing tells. */
  readonly failsafe: Reading<FailsafePorts | undefined>;
}

/**
 * The cluster's nodes as the service has them: automatic endpoints get the labels of the service's own node. With the API datastore that
 * is the Kubernetes node with more labels in an annotation; a key-value store has objects of its own, which may have other names.
 */
export async function readHosts(
  nodes: readonly KubeObject[],
  objects: ServiceObjects,
  datastore: Datastore,
  { profile: { apiGroup } }: Context,
): Promise<readonly NodeFacts[]> {
  if (datastore === 'api') {
    return nodes.map((node) => ({ ...hostOf(node), ownLabels: ownNodeLabels(node, apiGroup), addresses: nodeAddresses(node, apiGroup) }));
  }
  const byNode = new Map((await objects('nodes')).map((own) => [kubernetesName(own), own]));
  return nodes.map((node) => {
    const own = byNode.get(node.metadata.name);
    if (!own) return hostOf(node);
    return { ...hostOf(node, own.metadata.name), ownLabels: ownOf(own, apiGroup), addresses: ownNodeAddresses(own) };
  });
}

/** By the Kubernetes node alone. */
export function hostOf({ metadata: { name: node, labels = {} } }: KubeObject, name = node): NodeFacts {
  return { name, node, labels };
}

/** Agents write into their node of which Kubernetes node it is; one that says nothing of the kind has the same name. */
function kubernetesName({ metadata, spec }: KubeObject): string {
  const { orchRefs } = (spec ?? {}) as {
    readonly orchRefs?: readonly { readonly nodeName?: string; readonly orchestrator?: string }[] | null;
  };
  return orchRefs?.find(({ orchestrator }) => orchestrator === 'k8s')?.nodeName ?? metadata.name;
}

/** What the controllers copied from Kubernetes they take away again with it. */
function ownOf(own: KubeObject, apiGroup: string): NodeFacts['labels'] {
  const synced = syncedNodeLabels(own, apiGroup);
  return Object.fromEntries(Object.entries(own.metadata.labels ?? {}).filter(([key]) => !Object.hasOwn(synced, key)));
}

/** What the migration does to one host, in the worse of its two moments. */
export interface HostVerdict {
  readonly node: string;
  readonly verdict: 'OPEN' | 'NEWLY POLICED' | 'CHANGED';
  /** When, and what applies before and after, lane by lane. */
  readonly detail: string;
  /** True if it applies since automatic endpoints are enabled. */
  readonly isNow?: true;
  /** True if its old endpoint is gone already. */
  readonly removed?: true;
  /** The same with the first policies only; absent where it would be no shorter. */
  readonly brief?: string;
}

/** A policy in whose rules addresses of hosts come or go: when, in which rule, which. */
export interface RuleChange extends Detail {
  readonly policy: string;
}

/** What happens to an unclear endpoint: it stays, it stays and blocks its node's automatic one, or the controllers delete it. */
type UnclearFate = 'stays' | 'blocks' | 'deleted';

/** An old endpoint that is gone, and that the undo does not simply create again. */
export interface GoneEndpoint {
  readonly name: string;
  readonly node: string;
  /** `untold`: it is created again, lest something of the user's is lost. */
  readonly remover: 'migration' | 'other' | 'untold';
  /** The object as JSON, for whoever wants to create it manually. */
  readonly asItWas: string;
}

/** What the checks of `hep` look at. */
export interface HepJudged {
  /** True if automatic endpoints are enabled. */
  readonly enabled: boolean;
  /** Nodes of the cluster. */
  readonly nodes: number;
  readonly verdicts: Reading<readonly HostVerdict[]>;
  readonly ruleChanges: Reading<readonly RuleChange[]>;
  /** Labels of old endpoints that cannot be copied to their node. */
  readonly labelProblems: readonly { readonly node: string; readonly text: string; readonly severity: 'error' | 'warning' }[];
  /** Endpoints with one sign of an automatic one but not both. */
  readonly unclear: readonly { readonly name: string; readonly detail: string; readonly fate: UnclearFate }[];
  /** All-interfaces endpoints of nodes that are not in the cluster: `name (node)`. */
  readonly elsewhere: readonly string[];
  /** Old endpoints with named ports. */
  readonly namedPorts: readonly string[];
  readonly rollouts: Reading<readonly RolloutProgress[]>;
  /** What endpoints pass through on their way to the hosts. A finished rollout shows no release: operator paths have no manifest. */
  readonly components: readonly ComponentVersion[];
  /** What keeps automatic endpoints from following the setting: from being made, or, where the migration is taken back, from going. */
  readonly obstacles: readonly { readonly text: string; readonly detail: string; readonly hint: string }[];
  /** The file of the service's CLI, or why none can be used. */
  readonly cli: JudgedCli;
  /** True if what is to be done, the undo included, cannot be done without it. */
  readonly needsCli: boolean;
  /** True if nothing is left to migrate, or an earlier migration is taken back: most gates do not apply then. */
  readonly idle: boolean;
  /** True if old endpoints were deleted by this command: the verdicts are told once more, whatever is left to do. */
  readonly judgesEnd: boolean;
  /** Old endpoints that were kept and are gone; undefined unless the migration is taken back. */
  readonly gone: readonly GoneEndpoint[] | undefined;
  /** What the record asks the undo to do, and that it does not; empty unless the migration is taken back. */
  readonly refusedBack: readonly Evidence[];
}

export type HepCheck = Check<HepJudged>;
