import type { Installation } from '../kernel/installation.ts';
import { isAnswer } from '../kernel/interruption.ts';
import { ApiFailure } from '../kernel/ports.ts';
import type { Composition, Interrupts, Seams } from './seams.ts';
import { processTerminal } from './terminal.ts';

/** The real world; adapters and stages are loaded when a command needs them. */
export function realSeams(version: string): Seams {
  const { env } = process;
  return {
    version,
    env,
    terminal: processTerminal(env),
    compose: async (request) => (await import('./compose.ts')).compose(request, version),
    loadChain: async (kind = 'upgrade') => (await import('./effects.ts')).chains[kind],
    loadEffects: async () => (await import('./effects.ts')).effects,
    installed,
    openNotifier: async (value) => (await import('./compose.ts')).openNotifierFor(value, env),
    listenForInterrupts: (say) => listenForInterrupts(say),
    every(ms, call) {
      const timer = setInterval(call, ms);
      return () => clearInterval(timer);
    },
  };
}

async function installed(composition: Composition): Promise<Installation | undefined> {
  const { readInstalled } = await import('../features/survey/detect.ts');
  try {
    return await readInstalled(composition, composition.context);
  } catch (thrown) {
    if (isAnswer(thrown) || thrown instanceof ApiFailure) return undefined;
    throw thrown;
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** Errors that nothing caught. Without a listener the process would end at once, with its lock held and its kubeconfig on disk. */
const DEFECTS = ['uncaughtException', 'unhandledRejection'] as const;
const INTERRUPTED = 130;

/** Time for the run record and the lock after a first Ctrl-C, milliseconds: a server that answers needs a fraction of it. */
const WORDS_MS = 5000;
/** After a second one. */
const LAST_WORDS_MS = 1000;
/** Milliseconds until work that ignores Ctrl-C is left behind; within it, a program asked to end is killed. */
const OVER_MS = 1000;

/** Where signals come from; `process` outside tests. */
interface SignalSource {
  on(event: string, listener: (thrown?: unknown) => void): unknown;
  removeListener(event: string, listener: (thrown?: unknown) => void): unknown;
  exit(code: number): void;
}

/** Calls once after this many milliseconds, unless stopped. */
type After = (ms: number, call: () => void) => () => void;

/** First signal: stop after the current action; second: stop now. A third ends the process if it is still there. */
export function listenForInterrupts(say: (text: string) => void, source: SignalSource = process, after: After = afterTimeout): Interrupts {
  const [soft, hard, late, over] = [new AbortController(), new AbortController(), new AbortController(), new AbortController()];
  let unfinished = 0;
  let stopTimer = () => {};
  const next = (ms: number, call: () => void) => {
    stopTimer();
    stopTimer = after(ms, call);
  };
  const giveUp = (wordsMs: number) => {
    next(wordsMs, () => end());
    hard.abort();
  };
  const end = () => {
    next(OVER_MS, () => over.abort());
    late.abort();
  };
  const listener = () => {
    if (!soft.signal.aborted) {
      const when =
        unfinished > 0 ? ' after the current action. Press Ctrl-C again to stop it as well' : '. Press Ctrl-C again to end at once';
      say(`Stopping${when}; continue later with the same command.`);
      soft.abort();
      if (unfinished === 0) giveUp(WORDS_MS);
    } else if (!hard.signal.aborted) {
      say('Stopping the current action. Continue later with the same command.');
      giveUp(LAST_WORDS_MS);
    } else if (!late.signal.aborted) end();
    else source.exit(INTERRUPTED);
  };
  let defect: { readonly thrown: unknown } | undefined;
  // A second one says nothing new, and a time that runs is not set again.
  const onDefect = (thrown: unknown) => {
    if (defect) return;
    defect = { thrown };
    soft.abort();
    if (!late.signal.aborted) giveUp(LAST_WORDS_MS);
  };
  for (const signal of SIGNALS) source.on(signal, listener);
  for (const event of DEFECTS) source.on(event, onDefect);
  return {
    soft: soft.signal,
    hard: hard.signal,
    late: late.signal,
    over: over.signal,
    defect: () => defect,
    async finish(work) {
      unfinished += 1;
      try {
        return await work();
      } finally {
        unfinished -= 1;
        if (unfinished === 0 && soft.signal.aborted && !hard.signal.aborted) giveUp(WORDS_MS);
      }
    },
    release: () => {
      stopTimer();
      for (const signal of SIGNALS) source.removeListener(signal, listener);
      for (const event of DEFECTS) source.removeListener(event, onDefect);
    },
  };
}

function afterTimeout(ms: number, call: () => void): () => void {
  const timer = setTimeout(call, ms);
  return () => clearTimeout(timer);
}
