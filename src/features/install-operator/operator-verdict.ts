import type { OperatorLag, OperatorView } from './operator-causes.ts';
import { degradation, lacked, operatorLags, unanswered, untouched } from './operator-points.ts';
import { ownImage } from './operator-workloads.ts';

/** All points have to hold this long, in milliseconds: three ticks of the operator's own status. */
export const HOLD_MS = 15_000;

/** An operator that has not answered for this long is named, in milliseconds; a new one waits about 20 s for the old one's lease. */
const DEAF_MS = 60_000;

/** Degraded is usual for half a minute of a healthy upgrade; from here on, in milliseconds, it is named. */
const DEGRADED_MS = 300_000;

/** What the user has to look at; the wait itself continues until its time limit. */
export interface OperatorTrouble {
  readonly type: 'deaf' | 'idle' | 'pinned' | 'degraded' | 'pod-failure';
  readonly subject: string;
  readonly why: string;
}

/** What one look has to remember for the next: since when each state has lasted, by the view's clock. */
export type OperatorMemory = Readonly<Record<string, number>>;

export interface OperatorVerdict {
  /** All five points hold and have held for 15 s. */
  readonly done: boolean;
  readonly lags: readonly OperatorLag[];
  readonly troubles: readonly OperatorTrouble[];
  /** Handed to the next call. */
  readonly memory: OperatorMemory;
}

/** Evaluates the end of an operator's upgrade (§4.3/2), pure. No transition is needed: statuses may never leave green. */
export function operatorVerdict(view: OperatorView, before: OperatorMemory = {}): OperatorVerdict {
  const lags = operatorLags(view);
  const states = [...(lags.length === 0 ? [{ key: 'good' }] : []), ...suspicions(view, lags)];
  const memory = Object.fromEntries(states.map(({ key }) => [key, before[key] ?? view.now]));
  const lasted = (key: string) => view.now - (memory[key] ?? view.now);
  const troubles = states.flatMap((one) => ('trouble' in one && lasted(one.key) >= one.afterMs ? [one.trouble] : []));
  return { done: lags.length === 0 && lasted('good') >= HOLD_MS, lags, troubles, memory };
}

interface Suspicion {
  readonly key: string;
  readonly afterMs: number;
  readonly trouble: OperatorTrouble;
}

function suspicions(view: OperatorView, lags: readonly OperatorLag[]): readonly Suspicion[] {
  const { deployment, target } = view;
  const subject = `Deployment/${view.names.deployment.namespace}/${view.names.deployment.name}`;
  const image = deployment && ownImage(deployment, target.operatorImage);
  const pinned = { type: 'pinned', subject, why: `stays at ${image ?? 'no image'}: the new operator does not run` } as const;
  const deaf = { type: 'deaf', subject, why: 'does not answer: the Installation has changed and its status has not followed' } as const;
  const waits = 'runs, and has begun nothing: it waits for the lease of the old one, or for kinds that the server does not have';
  const idle = { type: 'idle', subject, why: waits } as const;
  const points = new Set(lags.map(({ point }) => point));
  const begunNothing = !points.has(1) && points.has(2) && untouched(view) && !unanswered(view);
  return [
    ...(begunNothing ? [{ key: 'idle', afterMs: DEAF_MS, trouble: idle }] : []),
    ...(deployment && image !== target.operatorImage ? [{ key: 'pinned', afterMs: DEAF_MS, trouble: pinned }] : []),
    ...(lags.length > 0 && unanswered(view) ? [{ key: 'deaf', afterMs: DEAF_MS, trouble: deaf }] : []),
    ...view.statuses.flatMap((status) => degradedSuspicion(status, view)),
  ];
}

function degradedSuspicion(status: OperatorView['statuses'][number], view: OperatorView): readonly Suspicion[] {
  const found = degradation(status);
  if (!found) return [];
  const failed = found.reason === 'PodFailure';
  const subject = `${status.kind}/${status.metadata.name}`;
  const name = view.names.statuses.find((one) => one.name === status.metadata.name);
  if (name && lacked(name, view)) return [];
  const trouble = { type: failed ? 'pod-failure' : 'degraded', subject, why: `${found.reason}: ${found.message}` } as const;
  return [{ key: `${trouble.type} ${subject}`, afterMs: failed ? DEAF_MS : DEGRADED_MS, trouble }];
}
