import { counted } from '../kernel/counted.ts';
import { imageRelease, parseImage } from '../kernel/release.ts';
import type { PodPhase, PodProgress, ReadyRule, RolloutTarget } from '../kernel/rollout.ts';
import { oneLine } from '../kernel/visible.ts';
import type { NodeFacts, PodFacts, Unready } from './pod-facts.ts';

/** What the state of one pod depends on. */
export interface PodSurroundings {
  readonly target: RolloutTarget;
  readonly nodes: ReadonlyMap<string, NodeFacts>;
  /** Milliseconds since the epoch, for elapsed times. */
  readonly now: number;
}

/** How far one pod is, and why it is not at the target (§4.4/3; domain §5). Only `updating` and `failed` depend on the time. */
export function judgePod(pod: PodFacts, view: PodSurroundings, isOfTemplate = true): PodProgress {
  const { target } = view;
  const image = pod.images[target.container] ?? '';
  const ready = `${pod.readyContainers}/${pod.containers}`;
  const isTarget = target.injected ? sameTag(image, target.image) : isSameImage(image, target.image);
  const isNew = isOfTemplate && (target.anyImage === true || isTarget);
  return { node: pod.node, pod: pod.name, release: shortRelease(image), ready, ...stateOf(pod, isNew, view) };
}

/** Injected containers come from one of several injectors, each with its own registry. */
function sameTag(image: string, wanted: string): boolean {
  const { tag } = parseImage(image);
  return image === wanted || (tag !== undefined && tag === parseImage(wanted).tag);
}

/** The release tag of an image, else what follows its last slash. */
function shortRelease(image: string): string {
  return imageRelease(image) ?? parseImage(image).tag ?? image.slice(image.lastIndexOf('/') + 1);
}

function stateOf(pod: PodFacts, isNew: boolean, view: PodSurroundings): Lag & { phase: PodPhase } {
  const node = view.nodes.get(pod.node);
  if (pod.terminating) return { phase: 'updating', why: node && !node.ready ? nodeDown(node) : 'old pod is stopping' };
  if (!isNew) return node && !node.ready ? { phase: 'old', why: nodeDown(node), isOff: true } : { phase: 'old', why: 'next' };
  if (isReady(pod, view.target.ready)) return { phase: 'new', why: '' };
  const hasFailed = pod.phase === 'Failed' || (pod.trouble !== undefined && BROKEN.has(pod.trouble.reason));
  const elapsed = pod.createdAt > 0 ? `, ${Math.max(0, Math.round((view.now - pod.createdAt) / 1000))} s` : '';
  const lag = lagOf(pod, node, elapsed);
  const reason = lagOf(pod, node, '').why;
  return { phase: hasFailed ? 'failed' : 'updating', ...lag, ...(reason === lag.why ? {} : { reason }) };
}

export function isReady(pod: PodFacts, rule: ReadyRule): boolean {
  if (pod.phase !== 'Running') return false;
  if (rule.type === 'literal') return `${pod.readyContainers}/${pod.containers}` === rule.ready;
  return pod.containers > 0 && pod.readyContainers === pod.containers && pod.readyCondition;
}

const PULL = new Set(['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull']);
const NEVER_MADE = new Set(['CreateContainerConfigError', 'CreateContainerError']);
const BROKEN = new Set([
  ...PULL,
  'CrashLoopBackOff',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
  'Error',
  'OOMKilled',
]);

type Lag = Pick<PodProgress, 'why' | 'reason' | 'isOff' | 'ended' | 'late'>;

function lagOf(pod: PodFacts, node: NodeFacts | undefined, elapsed: string): Lag {
  if (node && !node.ready) return { why: nodeDown(node) };
  if (pod.unschedulable) return { why: `unschedulable: ${pod.unschedulable}` };
  if (pod.trouble) return troubleOf(pod.trouble, pod.images[pod.trouble.container], elapsed);
  if (pod.phase !== 'Pending') return { why: `not ready${elapsed}${pod.unready ? endedText(pod.unready) : ''}`, late: 'unready' };
  return pod.node === '' ? { why: `waiting for a node${elapsed}` } : { why: `pulling image or starting${elapsed}`, late: 'starting' };
}

/** For a container that runs again, its last end is the reason. */
function endedText({ container, restarts, lastExit }: Unready): string {
  return restarts === 0 ? '' : `, ${container}: ${lastExit === undefined ? '' : `last exit ${lastExit}, `}${counted(restarts, 'restart')}`;
}

function troubleOf(trouble: NonNullable<PodFacts['trouble']>, image: string | undefined, elapsed: string): Lag {
  if (PULL.has(trouble.reason))
    return { why: `cannot pull ${image ?? 'image'} (${trouble.reason}${registryWords(trouble.message)})${elapsed}` };
  const exit = trouble.lastExit === undefined ? '' : `, last exit ${trouble.lastExit}`;
  // A container that was never created has no log, and its event may not be readable.
  const said = NEVER_MADE.has(trouble.reason) && trouble.message !== '' ? ` (${oneLine(trouble.message)})` : '';
  const why = `${trouble.container}: ${trouble.reason}${said}${exit}, ${counted(trouble.restarts, 'restart')}`;
  return trouble.restarts > 0 ? { why, ended: trouble.container } : { why };
}

/** What the kubelet says before it repeats the registry's answer; some kubelets say no more. */
const BACK_OFF = /^Back-off pulling image(?: "[^"]*")?(?:: ErrImagePull)?(?:: |$)/;
/** More characters than these are a page of a proxy, not a reason. */
const LONGEST_ANSWER = 300;

/** `: failed to resolve reference "…": not found`; empty where the kubelet repeats no answer. */
function registryWords(message: string): string {
  const words = oneLine(message).replace(BACK_OFF, '').trim();
  return words === '' ? '' : `: ${words.length > LONGEST_ANSWER ? `${words.slice(0, LONGEST_ANSWER)}…` : words}`;
}

function nodeDown(node: NodeFacts): string {
  return `node is not ready (${node.reason})`;
}

/** True if both name the same image and tag; for mirrors, admission may rewrite the registry or add a digest. */
export function isSameImage(one: string, other: string): boolean {
  const [a, b] = [parseImage(one), parseImage(other)];
  // A digest alone tells no release.
  return one === other || (a.tag !== undefined && a.name === b.name && a.tag === b.tag);
}
