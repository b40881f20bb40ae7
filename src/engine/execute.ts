import type { Action } from '../kernel/action.ts';
import { type EnginePorts, typeOf } from '../kernel/effect-type.ts';
import type { Observer } from '../kernel/event.ts';
import type { Around, Performed } from '../kernel/performing.ts';
import type { Hold } from './hold.ts';

/** Performs one action. */
export interface Executor {
  perform(stage: string, action: Action): Promise<Performed>;
}

/** When to end what is under way: waits at the first Ctrl-C, programs only when nothing more may be written. */
export type Ends = Pick<Hold, 'stop' | 'cut' | 'mustHold'>;

/** The one that really acts. */
export function realExecutor(ports: EnginePorts, observe: Observer, ends: Ends, limits: Around['limits']): Executor {
  const around = surroundings(observe, ends, limits);
  return { perform: (stage, action) => typeOf(ports.effects, action.effect).perform(ports, action.effect, around(stage, action)) };
}

/** `--dry-run=server`: the server answers every write, nothing is stored; what needs the write is only announced. */
export function serverDryRunExecutor(ports: EnginePorts, observe: Observer, ends: Ends): Executor {
  const around = surroundings(observe, ends, {});
  return { perform: (stage, action) => typeOf(ports.effects, action.effect).dryRun(ports, action.effect, around(stage, action)) };
}

function surroundings(observe: Observer, ends: Ends, limits: Around['limits']): (stage: string, action: Action) => Around {
  const leftBehind = new Set<string>();
  return (stage, action) => ({
    stop: ends.stop,
    cut: ends.cut,
    mustHold: () => ends.mustHold(),
    limits,
    leftBehind,
    report: (done, of, what, why) => observe({ type: 'progress', stage, done, of, what, ...(why ? { why } : {}) }),
    warn: (text) => observe({ type: 'note', stage, text, level: 'warning' }),
    onProgress: (progress, elapsedMs) => observe({ type: 'rollout', stage, progress, elapsedMs }),
    onLine: (line, stream) => observe({ type: 'action-output', stage, action, line, stream }),
  });
}
