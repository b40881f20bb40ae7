import { textAt } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import { groupOf, type Kind, type KubeObject } from '../../kernel/object.ts';
import { ApiFailure, type ClusterReader, type ListOptions } from '../../kernel/ports.ts';
import type { WorkloadName } from '../../kernel/rollout.ts';
import { leanNode, named, unattributed } from '../../kube/lean-objects.ts';
import type { OperatorTarget } from './operator-causes.ts';
import { labelledPod } from './read-operator.ts';

/** By what the end is identified where the profile names no statuses of the operator; data of the profile. */
export interface SettledNames {
  readonly deployment: { readonly namespace: string; readonly name: string };
  /** Its group is that of every resource by which the operator owns what it makes. */
  readonly installation: Kind;
  readonly agent: WorkloadName;
  readonly controllers: WorkloadName;
  /** Names of the service's images. */
  readonly images: readonly string[];
  /** APIService of the v3 API. */
  readonly api: string;
  /** The v3 API was served before: it has to come back. */
  readonly isServed: boolean;
  /** Where the agents say which release they are of. */
  readonly information: { readonly kind: Kind; readonly name: string; readonly versionField: string };
}

/** The cluster at one moment, as far as the rule goes; what does not exist is undefined. */
export interface SettledFacts {
  readonly names: SettledNames;
  readonly target: OperatorTarget;
  readonly deployment: KubeObject | undefined;
  readonly installation: KubeObject | undefined;
  /** Agents, controllers, and whatever else the operator owns. */
  readonly workloads: readonly KubeObject[];
  readonly apiService: KubeObject | undefined;
  /** Behind the APIService. */
  readonly service: KubeObject | undefined;
  readonly information: KubeObject | undefined;
  /** Of the namespaces of all these. */
  readonly pods: readonly KubeObject[];
  readonly nodes: readonly KubeObject[];
  /** Milliseconds since the epoch, for ages of pods. */
  readonly timeMs: number;
}

/** Everything that the rule is evaluated by. Throws ApiFailure. */
export async function readSettledFacts(
  cluster: Pick<ClusterReader, 'list'>,
  { names, target }: Pick<SettledFacts, 'names' | 'target'>,
  timeMs: number,
): Promise<SettledFacts> {
  // A kind that is not served has no objects.
  const list = (kind: Kind, options: ListOptions): Promise<readonly KubeObject[]> =>
    cluster.list(kind, options).catch((thrown: unknown) => {
      if (thrown instanceof ApiFailure && thrown.status === 404) return [];
      throw thrown;
    });
  const one = async (kind: Kind, name: string, namespace?: string): Promise<KubeObject | undefined> => {
    const found = await list(kind, { fieldSelector: `metadata.name=${name}`, ...(namespace === undefined ? {} : { namespace }) });
    return found.find(({ metadata }) => metadata.name === name);
  };
  const keep = (object: KubeObject) => (isMeant(object, names) ? unattributed(object) : named(object));
  const [daemonSets, deployments, installation, apiService, information, nodes] = await Promise.all([
    list(K.DaemonSet, { keep }),
    list(K.Deployment, { keep }),
    one(names.installation, 'default'),
    one(K.APIService, names.api),
    one(names.information.kind, names.information.name),
    list(K.Node, { keep: leanNode }),
  ]);
  const meant = [...daemonSets, ...deployments].filter((object) => isMeant(object, names));
  const behind = serviceOf(apiService);
  const spaces = [names.deployment.namespace, ...meant.map(({ metadata }) => metadata.namespace ?? ''), behind?.namespace ?? ''];
  const [service, ...pods] = await Promise.all([
    behind && one(K.Service, behind.name, behind.namespace),
    ...[...new Set(spaces)].filter((space) => space !== '').map((namespace) => list(K.Pod, { namespace, keep: labelledPod })),
  ]);
  const deployment = meant.find((object) => isOperator(object, names));
  const workloads = meant.filter((object) => object !== deployment);
  return { names, target, deployment, installation, workloads, apiService, service, information, pods: pods.flat(), nodes, timeMs };
}

/** The Service that an APIService leads to; none where the server itself answers. */
export function serviceOf(apiService: KubeObject | undefined): { readonly namespace: string; readonly name: string } | undefined {
  const [namespace, name] = ['namespace', 'name'].map((field) => textAt(apiService?.spec, 'service', field));
  return namespace === undefined || name === undefined ? undefined : { namespace, name };
}

function isMeant(object: KubeObject, names: SettledNames): boolean {
  return isOperator(object, names) || requiredAs(object, names) !== undefined || isOwned(object, names);
}

function isOperator({ kind, metadata }: KubeObject, { deployment }: SettledNames): boolean {
  return kind === K.Deployment.kind && metadata.namespace === deployment.namespace && metadata.name === deployment.name;
}

/** What must exist: agents and controllers. */
export function requiredAs({ kind, metadata }: KubeObject, { agent, controllers }: SettledNames): WorkloadName | undefined {
  return [agent, controllers].find((one) => one.kind === kind && one.namespace === metadata.namespace && one.name === metadata.name);
}

function isOwned({ metadata }: KubeObject, { installation }: SettledNames): boolean {
  return metadata.ownerReferences?.some(({ apiVersion }) => groupOf(apiVersion) === installation.group) === true;
}
