import type { SessionFlags } from './session.ts';
import { type Terminal, tellErr } from './terminal.ts';

/** Yes to every question, which is shown with its answer: without the user at the terminal, and with `--yes`. */
export function answeredYes(terminal: Terminal): Terminal {
  return {
    ...terminal,
    interactive: true,
    async confirm(question) {
      tellErr(terminal, `${question} [y/N] y\n`);
      return true;
    },
    ask: async () => undefined,
  };
}

/** Nothing is seen or asked. */
export function unseen(terminal: Terminal): Terminal {
  return { ...terminal, interactive: false, errIsTerminal: false, out: () => undefined, err: () => undefined };
}

/** Only the document is missing. */
export function withoutOut(terminal: Terminal): Terminal {
  return { ...terminal, out: () => undefined };
}

/** A program reads stdout whole. */
export function machineReadable(output: SessionFlags['output']): boolean {
  return output !== 'table' && output !== 'wide';
}
