import { repairCommand } from '../../kernel/command.ts';
import { counted } from '../../kernel/counted.ts';
import { type Fault, PodFault } from '../../kernel/fault.ts';
import { seePod } from '../../kernel/pod-look.ts';
import type { PodProgress, RolloutProgress } from '../../kernel/rollout.ts';
import type { PodName } from '../../kernel/run-record.ts';
import { Again, againAs, contain, or, type Step, text } from '../../kernel/step.ts';
import { stopImpact } from '../../kernel/traffic.ts';
import { podsAtOnce } from '../../kube/judge-rollout.ts';
import { listed } from '../survey/index.ts';
import { HELD, type HeldFor, ofCanary, withNewPod } from './canary-view.ts';
import { type Board, workloadKey } from './rollout-board.ts';

/** A failed pod must stay failed this long before it counts: crash loops come back, pulls are retried. */
const FAILURE_GRACE_MS = 30_000;

interface Failed {
  /** `shop/web-1-a` */
  readonly key: string;
  readonly pod: PodProgress;
  readonly target: RolloutProgress['target'];
}

interface FailureLimits {
  readonly maxFailed: number;
  readonly leftBehind?: Set<string> | undefined;
  readonly heldFor?: HeldFor | undefined;
}

/** The pods that have failed and stay so, against the number that the user tolerates. */
export class FailedPods {
  readonly #since = new Map<string, number>();
  readonly #maxFailed: number;
  /** Those that earlier waits of the run continued without: they count as well, and at once. */
  readonly #leftBehind: Set<string> | undefined;

  readonly #workloads: Board['workloads'];

  readonly #heldFor: HeldFor | undefined;

  constructor({ maxFailed, leftBehind, heldFor }: FailureLimits, { workloads }: Pick<Board, 'workloads'>) {
    this.#maxFailed = maxFailed;
    this.#heldFor = heldFor;
    this.#leftBehind = leftBehind;
    this.#workloads = workloads;
  }

  /** `now` is of a clock that only goes forward. Throws Fault('stopped') if more stay failed than are tolerated; else true if nothing but such pods keeps the rollout from its end. */
  judge(progress: readonly RolloutProgress[], now: number): boolean {
    const settled = this.#settled(progress, now);
    const all = new Set([...(this.#leftBehind ?? []), ...settled.map(({ key }) => key)]);
    if (settled.length > 0 && all.size > this.#maxFailed) throw this.#tooMany(settled, all.size, progress);
    if (!this.#leftBehind || settled.length === 0) return false;
    const keys = new Set(settled.map(({ key }) => key));
    if (!progress.every((one) => one.done || restsOnFailed(one, keys))) return false;
    for (const key of keys) this.#leftBehind.add(key);
    return true;
  }

  #settled(progress: readonly RolloutProgress[], now: number): readonly Failed[] {
    const failed = progress.flatMap((one) =>
      one.pods.filter(({ phase }) => phase === 'failed').map((pod) => ({ key: keyOf(one, pod), pod, target: one.target })),
    );
    const keys = new Set(failed.map(({ key }) => key));
    for (const key of this.#since.keys()) if (!keys.has(key)) this.#since.delete(key);
    for (const key of keys) if (!this.#since.has(key)) this.#since.set(key, now);
    return failed.filter(({ key }) => this.#leftBehind?.has(key) || now - (this.#since.get(key) ?? now) >= FAILURE_GRACE_MS);
  }

  #tooMany(settled: readonly Failed[], count: number, progress: readonly RolloutProgress[]): Fault {
    const list = settled.map(({ key, pod }) => `${pod.node || 'no node'}: ${key}: ${pod.why}`).join('; ');
    const pods = settled.map(podOf);
    const looks = [...new Map(pods.map(seePod).map((one) => [one.plain, one])).values()].slice(0, SHOWN);
    const rest = this.#leftBehind ? 'continue with the other workloads' : 'let the rollout continue on other nodes';
    const canContinue = this.#leftBehind !== undefined || progress.some((one) => this.#hasRoom(one));
    const fact = `${counted(count, 'pod')} failed, more than --max-failed=${this.#maxFailed}: ${list}`;
    const nodes = settled.flatMap(({ pod, target }) => (target.kind === 'DaemonSet' && pod.node !== '' ? [pod.node] : []));
    const steps = [
      ...looks,
      impactOf(settled),
      ...(nodes.length > 0 ? [keptOff(nodes)] : []),
      ...(this.#heldFor
        ? [...withNewPod(settled.filter(({ pod }) => pod.ended !== undefined)), ...HELD]
        : [
            text`fix the cause (Kubernetes then continues this rollout by itself), then ${againAs('it resumes')}`,
            ...(canContinue ? [or(text`${rest} meanwhile: ${tolerating(count)}`)] : []),
          ]),
    ];
    return new PodFault('stopped', ofCanary(fact, this.#heldFor), steps, pods);
  }

  /** The controller of a DaemonSet replaces no further pod once as many as it may replace at a time have failed. */
  #hasRoom({ target: { kind, namespace, name }, desired, pods }: RolloutProgress): boolean {
    const workload = this.#workloads.get(workloadKey(kind, namespace, name));
    const failed = pods.filter(({ phase }) => phase === 'failed').length;
    return workload !== undefined && pods.some(({ phase }) => phase === 'old') && failed < (podsAtOnce(workload, desired) ?? 0);
  }
}

function keyOf({ target }: RolloutProgress, { pod }: PodProgress): string {
  return `${target.namespace}/${pod}`;
}

/** No pod is progressing any more, and at least one has failed for good. */
function restsOnFailed(one: RolloutProgress, settled: ReadonlySet<string>): boolean {
  const moving = one.pods.some((pod) => pod.phase === 'updating' || (pod.phase === 'failed' && !settled.has(keyOf(one, pod))));
  return !moving && one.pods.some((pod) => settled.has(keyOf(one, pod)));
}

/** What it means for traffic that a rollout stops. */
export const IMPACT = stopImpact('new pods on a node whose agent is not ready get no network');
/** The same of the nodes where new pods get none. */
export const withoutNetwork = (nodes: string): Step => stopImpact(`new pods on ${nodes} get no network`, nodes);

const tolerating = (count: number): Again =>
  new Again(`run the same command again with --max-failed=${count}`, '', ['max-failed', String(count)]);

function impactOf(settled: readonly Failed[]): Step {
  // The rest are controllers, or workloads of the user.
  const agents = settled.filter(({ target }) => target.kind === 'DaemonSet' && !target.injected);
  if (agents.length === 0) return stopImpact();
  const named = [...new Set(agents.map(({ pod }) => pod.node))].filter((node) => node !== '');
  return named.length === 0 ? IMPACT : stopImpact(`new pods on ${listed(named)} get no network until its agent is ready`);
}

/** More pods than these help nobody. */
const SHOWN = 3;

/** The log of a crash-looping container has the reason; for any other the events do. */
function podOf({ pod: { pod, ended }, target: { namespace } }: Failed): PodName {
  return { namespace, name: pod, ...(ended === undefined ? {} : { log: { container: ended, of: 'former' } }) };
}

/** Pods that run there stay; those that would be placed there are placed elsewhere. */
export function keptOff(nodes: readonly string[]): Step {
  const named = [...new Set(nodes)];
  return contain(
    text`keep new pods off ${listed(named)}: ${repairCommand`kubectl cordon ${named}`} (afterwards: ${repairCommand`kubectl uncordon ${named}`})`,
  );
}
