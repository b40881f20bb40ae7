import { listenForInterrupts } from './interrupt.ts';
import type { Seams } from './seams.ts';
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
    loadChain: async () => (await import('../stages/index.ts')).chain,
    listenForInterrupts: (say) => listenForInterrupts(say),
    every(ms, call) {
      const timer = setInterval(call, ms);
      return () => clearInterval(timer);
    },
  };
}
