import { type Command, command } from '../../kernel/argv.ts';
import { ageText, counted } from '../../kernel/counted.ts';
import { groupOf, type Kind, type KubeObject } from '../../kernel/object.ts';
import type { OperatorEnd } from '../../kernel/operator-names.ts';
import { imageAge, parseImage } from '../../kernel/release.ts';
import type { Step } from '../../kernel/step.ts';
import { heldBy } from '../../kube/held.ts';
import { type NodeFacts, nodeFacts, type PodFacts, podFacts } from '../../kube/pod-facts.ts';
import { selectorOf, selects } from '../../kube/selector.ts';
import type { Lagging } from '../rollout/index.ts';
import { allContainersOf, containersOf, shapeOf } from '../survey/index.ts';

/** The names that the end of an upgrade by the operator is identified by; data of the profile. */
export interface OperatorEndNames extends Pick<OperatorEnd, 'statusKind' | 'statuses' | 'api'> {
  readonly deployment: { readonly namespace: string; readonly name: string };
  readonly installation: Kind;
  /** Namespace of the components. */
  readonly workloads: string;
  /** Field of the Installation's status with the release. */
  readonly versionField: string;
  /** Workloads that must be there: an empty namespace is not a finished one. */
  readonly required: readonly Called[];
  /** Name of Typha's Deployment; absent where none is known. */
  readonly typha?: string;
}

/** An object by its name alone: where it is, is known. */
interface Called {
  readonly kind: string;
  readonly name: string;
}

/** What the target release runs. */
export interface OperatorTarget {
  readonly release: string;
  /** The whole image of the operator's container, with the registry in use. */
  readonly operatorImage: string;
  /** Prefix of every image of the components, the registry in use; undefined: any. */
  readonly registry?: string;
  /** Digests (`sha256:…`) of the target release, where images are pinned by digest. */
  readonly digests: readonly string[];
}

/** One look at the cluster: everything a verdict needs; what does not exist is undefined. */
export interface OperatorView {
  readonly names: OperatorEndNames;
  readonly target: OperatorTarget;
  readonly deployment: KubeObject | undefined;
  readonly installation: KubeObject | undefined;
  readonly statuses: readonly KubeObject[];
  /** The `default` resources that switch components on: APIServer, Goldmane, Whisker. */
  readonly resources: readonly KubeObject[];
  /** DaemonSets and Deployments of the namespace of the components. */
  readonly workloads: readonly KubeObject[];
  readonly apiService: KubeObject | undefined;
  readonly oldApiNamespace: KubeObject | undefined;
  /** Pods of the operator and its components, read only while one of their workloads lags. */
  readonly pods?: readonly KubeObject[];
  readonly nodes?: readonly KubeObject[];
  /** Milliseconds since the epoch, for ages of pods. */
  readonly timeMs?: number;
  /** Milliseconds of a clock that only goes forward. */
  readonly now: number;
}

/** One thing that is not there yet, and why. */
export interface OperatorLag {
  /** 1 operator, 2 release, 3 component statuses, 4 workloads, 5 API of the v3 group. */
  readonly point: 1 | 2 | 3 | 4 | 5;
  /** The subject, where it matters which it is. */
  readonly object?: Called;
  readonly subject: string;
  readonly why: string;
  /** A status says that its component is Degraded. */
  readonly isDegraded?: true;
  /** This program keeps the operator from it. */
  readonly isHeld?: true;
  /** What shows more, where a pod is known that keeps it from its end. */
  readonly command?: Command;
  /** That pod. */
  readonly pod?: Lagging;
  /** What lets it continue, where only the user does that. */
  readonly fix?: Step;
}

/** A pod may take this long to start before anybody is sent to look at it, in milliseconds. */
const STARTING_MS = 30_000;

/** What keeps a workload from its end, and where to look. */
type Cause = Required<Pick<OperatorLag, 'why' | 'command' | 'pod'>>;

/** The pod of this workload that somebody has to look at first: one that cannot start before one that is only late. */
export function podCause(
  workload: KubeObject,
  { pods = [], nodes = [], timeMs = 0 }: Pick<OperatorView, 'pods' | 'nodes' | 'timeMs'>,
): Cause | undefined {
  const selector = selectorOf(workload);
  const own = pods.filter(({ metadata }) => metadata.namespace === workload.metadata.namespace && selects(selector, metadata.labels ?? {}));
  const known = new Map(nodes.map((node) => [node.metadata.name, nodeFacts(node)]));
  const facts = own.map(podFacts);
  const ready = facts.filter(isReady).length;
  const late = facts.filter((pod) => !isReady(pod) && !pod.terminating && isCause(pod, known.get(pod.node), timeMs));
  const [first] = late.toSorted((a, b) => Number(a.trouble === undefined) - Number(b.trouble === undefined));
  if (!first) return undefined;
  const where = first.node === '' ? '' : `${first.node}: `;
  const more = late.length > 1 ? `, and ${late.length - 1} more` : '';
  return {
    why: `${ready}/${facts.length} ready · ${where}${first.name} ${whyNot(first, known.get(first.node), timeMs)}${more}`,
    command: lookAt(first),
    pod: laggingOf(first),
  };
}

/** A pod of an operator that runs and does nothing: its log says what it waits for. */
export function operatorPod({ deployment, pods = [] }: Pick<OperatorView, 'deployment' | 'pods'>): Lagging | undefined {
  if (!deployment) return undefined;
  const { namespace = '' } = deployment.metadata;
  const selector = selectorOf(deployment);
  const own = pods.find(({ metadata }) => metadata.namespace === namespace && selects(selector, metadata.labels ?? {}));
  const [container] = containersOf(deployment);
  return own && container && { namespace, pod: own.metadata.name, why: 'not ready to act', late: 'unready', container: container.name };
}

/** For the question why: what ended again and again, or runs and is not ready, has its log read too. */
function laggingOf({ namespace, name, trouble, unready }: PodFacts): Lagging {
  if (trouble && trouble.restarts > 0)
    return { namespace, pod: name, why: `${trouble.container}: ${counted(trouble.restarts, 'restart')}`, ended: trouble.container };
  const lag = trouble ? { why: trouble.reason } : { why: 'not ready', late: 'unready' as const };
  return { namespace, pod: name, ...lag, ...(unready ? { container: unready.container } : {}) };
}

function isReady({ phase, readyContainers, containers, readyCondition }: PodFacts): boolean {
  return phase === 'Running' && readyCondition && readyContainers === containers;
}

function isCause(pod: PodFacts, node: NodeFacts | undefined, timeMs: number): boolean {
  return pod.trouble !== undefined || pod.unschedulable !== undefined || node?.ready === false || timeMs - pod.createdAt >= STARTING_MS;
}

function whyNot({ phase, createdAt, trouble, unschedulable }: PodFacts, node: NodeFacts | undefined, timeMs: number): string {
  const state = `${phase} ${ageText(timeMs - createdAt)}`;
  if (node?.ready === false) return `${state}: its node is not ready (${node.reason})`;
  if (unschedulable !== undefined) return `${state}: ${unschedulable}`;
  if (!trouble) return phase === 'Pending' ? `${state}: no container has started` : `${state}: not ready`;
  const exit = trouble.lastExit === undefined ? '' : `, last exit ${trouble.lastExit}`;
  const restarts = trouble.restarts > 0 ? `, ${counted(trouble.restarts, 'restart')}` : '';
  return `${state}: ${trouble.reason}${trouble.message === '' ? '' : ` (${trouble.message})`} in container ${trouble.container}${exit}${restarts}`;
}

/** A container that ran and ended has said why in its log; of any other the events tell. */
function lookAt({ namespace, name, trouble }: PodFacts): Command {
  return trouble !== undefined && trouble.restarts > 0
    ? command`kubectl -n ${namespace} logs ${name} -c ${trouble.container} --previous`
    : command`kubectl -n ${namespace} describe pod ${name}`;
}

/** The workloads of the components' namespace, and what they have to become. */
export type Components = Pick<OperatorView, 'workloads' | 'names' | 'target'>;

/** What lags among the agents, those of Windows nodes too: some of them may be older than the target. */
export function agentLags(view: Components): readonly OperatorLag[] {
  return componentLags(view).filter(({ object }) => object?.kind === 'DaemonSet');
}

/** What lags of Typha, which an installation by an operator always has. */
export function typhaLags(view: Components): readonly OperatorLag[] {
  const { typha, workloads } = view.names;
  if (typha === undefined) return [];
  const subject = `Deployment/${workloads}/${typha}`;
  const isThere = view.workloads.some(({ kind, metadata }) => kind === 'Deployment' && metadata.name === typha);
  if (!isThere) return [{ point: 4, subject, why: 'does not exist' }];
  return componentLags(view).filter((lag) => lag.subject === subject);
}

/** What lags beside Typha and the controllers. */
export function otherLags(view: Components): readonly OperatorLag[] {
  const { typha, required } = view.names;
  const held = [...required.flatMap(({ kind, name }) => (kind === 'Deployment' ? [name] : [])), typha];
  return componentLags(view).filter(({ object }) => object?.kind !== 'Deployment' || !held.includes(object.name));
}

/** What lags among the workloads of the components (point 4 of the rule). */
export function componentLags(view: Components): readonly OperatorLag[] {
  const { workloads, names, target } = view;
  const missing = names.required
    .filter((wanted) => !workloads.some((one) => isCalled(one, wanted)))
    .map((object) => ({ point: 4 as const, object, subject: `${object.kind}/${object.name}`, why: 'does not exist' }));
  const lagging = workloads.flatMap((one) => {
    const standing = standingOf(one, view);
    if (standing === 'foreign') return [];
    const object = { kind: one.kind, name: one.metadata.name };
    const subject = `${one.kind}/${one.metadata.namespace ?? ''}/${one.metadata.name}`;
    const wayOut = `; if it is not the operator’s, move it out of ${names.workloads}: it is waited for there`;
    const held = heldBy(one) === undefined ? {} : ({ isHeld: true } as const);
    const more = held.isHeld ? '; an unfinished run of this program holds it' : standing === 'untold' ? wayOut : '';
    return workloadLags(one, (image) => imageLag(image, target), standing === 'required').map((why) => {
      return { point: 4 as const, object, subject, why: `${why}${more}`, ...held };
    });
  });
  return [...missing, ...lagging];
}

function isCalled({ kind, metadata }: KubeObject, wanted: Called): boolean {
  return kind === wanted.kind && metadata.name === wanted.name;
}

/**
 * Whose a workload in the components' namespace is. The operator owns all that it makes; where it owns what must exist, another workload is
 * somebody else's and does not matter for the end.
 */
function standingOf(workload: KubeObject, { workloads, names }: Components): 'required' | 'owned' | 'foreign' | 'untold' {
  const isRequired = (one: KubeObject) => names.required.some((wanted) => isCalled(one, wanted));
  const isOwned = ({ metadata }: KubeObject) =>
    metadata.ownerReferences?.some((owner) => groupOf(owner.apiVersion) === names.installation.group) === true;
  if (isRequired(workload)) return 'required';
  if (isOwned(workload)) return 'owned';
  return workloads.filter(isRequired).some(isOwned) ? 'foreign' : 'untold';
}

function imageLag(image: string, { release, registry, digests }: OperatorView['target']): string {
  if (registry !== undefined && !image.startsWith(registry)) return `runs ${image}, which is not from ${registry}`;
  const age = imageAge(image, release, digests);
  if (age === 'untold') return `runs ${image}, which tells no release: an ImageSet of ${release} with its digest would`;
  return age === 'of' ? '' : `runs ${image}, not ${release}`;
}

/** Counters that must all equal the wanted number; an absent one is 0. */
const COUNTS = {
  DaemonSet: ['updatedNumberScheduled', 'currentNumberScheduled', 'numberReady', 'numberAvailable'],
  Deployment: ['updatedReplicas', 'replicas', 'readyReplicas', 'availableReplicas'],
} as const;

const WORDS = ['updated', 'there', 'ready', 'available'] as const;

/**
 * Why a workload is not wholly on its target; the operator's "available" ignores updated counts (point 4 of the rule). `imageLag` says what
 * is wrong with an image, or ''; `neverEmpty`: a pod must run, unlike agents for Windows.
 */
export function workloadLags(workload: KubeObject, imageLag: (image: string) => string, neverEmpty: boolean): readonly string[] {
  const { spec, status = {} } = shapeOf(workload);
  const images = allContainersOf(workload)
    .map((one) => imageLag(one.image ?? ''))
    .filter((why) => why !== '');
  if (images.length > 0) return [...new Set(images)];
  if ((status.observedGeneration ?? 0) !== (workload.metadata.generation ?? 0)) return ['its controller has not seen the change yet'];
  const kind = workload.kind === 'DaemonSet' ? 'DaemonSet' : 'Deployment';
  const wanted = kind === 'DaemonSet' ? (status.desiredNumberScheduled ?? 0) : (spec?.replicas ?? 1);
  if (wanted === 0 && neverEmpty) return [kind === 'DaemonSet' ? 'wants no pod: no node fits it' : 'wants no pod: it is scaled to 0'];
  const short = COUNTS[kind].findIndex((field) => (status[field] ?? 0) !== wanted);
  const paused = spec?.paused ? '; its rollout is paused' : '';
  return short < 0 ? [] : [`${status[COUNTS[kind][short] ?? ''] ?? 0} of ${wanted} pods are ${WORDS[short]}${paused}`];
}

/** The workload's own image among added containers: the wanted one, else by name, else a Deployment's first. */
export function ownImage(workload: KubeObject, wanted: string): string | undefined {
  const images = containersOf(workload).map(({ image = '' }) => image);
  return (
    images.find((image) => image === wanted) ?? images.find((image) => parseImage(image).name === parseImage(wanted).name) ?? images[0]
  );
}
