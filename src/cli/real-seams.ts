import type { Installation } from '../kernel/installation.ts';
import { isAnswer } from '../kernel/interruption.ts';
import { ApiFailure } from '../kernel/ports.ts';
import { listenForInterrupts } from './interrupt.ts';
import type { Composition, Seams } from './seams.ts';
import { processTerminal } from './terminal.ts';

/** The real world; adapters and stages are loaded when a command needs them. */
export function realSeams(name: string, version: string): Seams {
  const { env } = process;
  return {
    name,
    version,
    env,
    terminal: processTerminal(env),
    compose: async (request) => (await import('./compose.ts')).compose(request, version),
    loadChain: async () => (await import('./loaded-chain.ts')).chain,
    loadEffects: async () => (await import('./loaded-chain.ts')).effects,
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
  const { readInstalled } = await import('../features/survey/installed.ts');
  try {
    return await readInstalled(composition, composition.context);
  } catch (thrown) {
    if (isAnswer(thrown) || thrown instanceof ApiFailure) return undefined;
    throw thrown;
  }
}
