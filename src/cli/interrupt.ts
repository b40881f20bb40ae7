import type { Interrupts } from './seams.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const INTERRUPTED = 130;

/** Where signals come from; `process` outside tests. */
export interface SignalSource {
  on(signal: NodeJS.Signals, listener: () => void): unknown;
  removeListener(signal: NodeJS.Signals, listener: () => void): unknown;
  exit(code: number): void;
}

/** Once: stop after the current action. Twice: stop the current action. A third time: end at once. */
export function listenForInterrupts(say: (text: string) => void, source: SignalSource = process): Interrupts {
  const [soft, hard] = [new AbortController(), new AbortController()];
  const listener = () => {
    if (!soft.signal.aborted) {
      say('Stopping after the current action. Press Ctrl-C again to stop it as well; continue later with the same command.');
      soft.abort();
    } else if (!hard.signal.aborted) {
      say('Stopping the current action. Continue later with the same command.');
      hard.abort();
    } else source.exit(INTERRUPTED);
  };
  for (const signal of SIGNALS) source.on(signal, listener);
  return {
    soft: soft.signal,
    hard: hard.signal,
    release: () => {
      for (const signal of SIGNALS) source.removeListener(signal, listener);
    },
  };
}
