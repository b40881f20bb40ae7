import type { Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import type { Datastore, Installation } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import type { Kind, KubeObject } from '../../kernel/object.ts';
import type { KeptChange } from '../../kernel/object-change.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import type { RolloutProgress } from '../../kernel/rollout.ts';
import { nodeAddresses, ownNodeAddresses } from '../../kube/lean-objects.ts';
import { ownNodeLabels, syncedNodeLabels } from '../../kube/stored-metadata.ts';
import type { ServiceObjects } from '../policies/index.ts';
import {
  type AfterRemoval,
  type AutomaticSettings,
  type ChangedForOthers,
  type FailsafePorts,
  givenVariable,
  type HostEndpoint,
  type NodeFacts,
  type NodeVerdict,
} from '../policy-rules/index.ts';
import type { NoCli, ServiceCli } from '../service-cli/index.ts';
import { attempt } from '../survey/index.ts';
import type { HepJudged } from './hep-facts.ts';
import type { JudgedBy } from './successor-stands.ts';
import { type VariableSource, variableSources } from './workload-env.ts';

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
  /** Policies in whose rules addresses of hosts come or go, for pods and for endpoints that stay. */
  readonly ruleChanges: Reading<readonly ChangedForOthers[]>;
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
  /** Those of them that another machine kept; empty unless the migration is taken back. */
  readonly keptElsewhere: readonly KeptChange[];
  readonly rollouts: Reading<readonly RolloutProgress[]>;
  /** Ports that stay open in any case; undefined where nothing tells. */
  readonly failsafe: Reading<FailsafePorts | undefined>;
}

/** The variable that overrides the setting of automatic endpoints: what the controllers' workload gives it; undefined where it gives none. */
type Override = Reading<string | undefined>;

/** Reads it through ConfigMaps. A Secret is not read: the variable then only counts as set. */
export async function readOverride(
  cluster: Pick<ClusterReader, 'get'>,
  controllers: KubeObject | undefined,
  name: string | undefined,
): Promise<Override> {
  if (name === undefined || !controllers) return { value: undefined };
  const namespace = controllers.metadata.namespace ?? '';
  // The last one that gives a value counts; a ConfigMap may have none of that name.
  for (const source of variableSources(controllers, name).toReversed()) {
    const reading = await readSource(cluster, namespace, source);
    if ('unread' in reading || reading.value !== undefined) return reading;
  }
  return { value: undefined };
}

async function readSource(cluster: Pick<ClusterReader, 'get'>, namespace: string, source: VariableSource): Promise<Override> {
  if (source.type === 'value') return { value: source.value };
  if (source.type === 'unread') return { unread: source.from };
  const map = await attempt(() => cluster.get(K.ConfigMap, source.map, namespace));
  if ('unread' in map) return { unread: `ConfigMap/${namespace}/${source.map}: ${map.unread}` };
  return { value: (map.value?.data as Readonly<Record<string, string>> | undefined)?.[source.key] };
}

interface Told {
  readonly override: Override;
  readonly settings: AutomaticSettings;
  readonly configuration?: KubeObject;
}

/**
 * Variables that override the setting or cannot be read; one that agrees counts, as it blocks the undo, which needs off. `needed`: without
 * automatic endpoints hosts would have none.
 */
export function overrideOf(told: Told, { profile, options }: Context, needed: boolean): HepJudged['obstacles'] {
  const { override, configuration } = told;
  const name = profile.automaticEndpointsEnv;
  if (name === undefined) return [];
  const isHarmful = (value: string | undefined) => value !== undefined && !(options.undo && value.toLowerCase() === 'disabled');
  const running = givenVariable(configuration, name);
  const first = needed ? enableFirst(told, name, profile) : undefined;
  const takeOut = (where: string) => `${first ? `${first} Then take` : 'Take'} ${name} out of the controllers’ ${where}`;
  if ('unread' in override) {
    const detail = `${name} of the controllers is set, and its value was not read: ${override.unread}`;
    return [{ text: name, detail, hint: takeOut('Deployment.') }];
  }
  if (isHarmful(override.value)) {
    return [{ text: name, detail: `${name}=${override.value} of the controllers overrides the setting`, hint: takeOut('Deployment.') }];
  }
  if (!isHarmful(running)) return [];
  const detail = `${name}=${running} is set in the running controllers, as their configuration shows, and overrides the setting`;
  return [{ text: name, detail, hint: takeOut('environment, and let them start again.') }];
}

/** Controllers restarted without the variable follow the setting, and delete what the variable alone keeps (hostendpoints §1.5). */
function enableFirst({ override, settings, configuration }: Told, name: string, { controllersConfiguration }: Profile): string | undefined {
  const fields = missingSettings(settings);
  const values = [givenVariable(configuration, name), 'value' in override ? override.value : undefined];
  const isUnknown = 'unread' in override && values[0] === undefined;
  if (fields.length === 0 || !(isUnknown || values.some((value) => value?.toLowerCase() === 'enabled'))) return undefined;
  const { kind, name: configured } = controllersConfiguration;
  const set = `Set ${fields.join(' and ')} of ${kind}/${configured} to Enabled first`;
  const why = `only ${name} keeps automatic endpoints, and without it the controllers delete them`;
  return `${isUnknown ? 'Where it is enabled: ' : ''}${set}: ${why}.`;
}

/** Without which the controllers make no automatic endpoint by the setting; a variable that says enabled asks for neither. */
export function missingSettings({ autoCreate, createDefault }: AutomaticSettings): readonly string[] {
  const missing = [...(autoCreate ? [] : ['autoCreate']), ...(createDefault ? [] : ['createDefaultHostEndpoint'])];
  return missing.map((field) => `spec.controllers.node.hostEndpoint.${field}`);
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
