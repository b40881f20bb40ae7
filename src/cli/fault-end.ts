import { Fault, type FaultEnd } from '../kernel/fault.ts';
import { type Here, isSame, textHere } from './carried.ts';
import type { Chain } from './command-names.ts';
import { commandIn, nextCommand } from './ending/next-step.ts';

/** Where a command ended. */
export interface Ended extends Here {
  readonly command: string;
  readonly chain?: Chain | undefined;
  /** The cluster as the screens name it; undefined where it is not known yet. */
  readonly header: string | undefined;
  /** The cluster has answered. */
  readonly isConnected: boolean;
  /** Nothing was changed, which is said where the error does not. */
  readonly isUnchanged: boolean;
}

/** What was thrown on the way, with hints for the cluster that it was about, and with the command that comes next. */
export function faultHere(fault: Fault, ended: Ended): Fault {
  const suggestions = fault.suggestions.map((one) => textHere(one, ended));
  const next = commandIn(suggestions, (one) => !isSame(one, ended.typed)) ?? otherwise(fault, ended);
  // Who has just said no, or stopped it, has seen which cluster it was.
  const isOwnWill = fault.code === 'stopped' || fault.code === 'interrupted';
  const { header, isUnchanged } = ended;
  const around = isOwnWill || header === undefined ? {} : { header, ...(isUnchanged ? { closing: UNCHANGED } : {}) };
  const isAgain = isSame(next, ended.typed);
  return withEnd(fault, isAgain ? suggestions.filter((one) => !AGAIN.test(one)) : suggestions, { next, ...around });
}

/** The same before anything is known of a cluster: what was typed could not be read, or names what there is not. */
export function faultEnded(fault: Fault, command: string): Fault {
  if (fault.end !== undefined) return fault;
  const next = fault.code === 'usage' ? `${OURS}${/^[a-z]/.test(command) ? ` ${command}` : ''} --help` : `${OURS} --version`;
  return withEnd(fault, fault.suggestions, { next: commandIn(fault.suggestions) ?? next });
}

function withEnd({ code, message, cause }: Fault, suggestions: readonly string[], end: FaultEnd): Fault {
  return new Fault(code, message, suggestions, cause, end);
}

const OURS = 'kubectl netsvc-upgrade';

const UNCHANGED = 'Nothing was changed by this command.';

/** What the next command itself says. */
const AGAIN = /^run the same command (?:again|when you are ready)$/;

/** Of an error whose hints have no command. */
function otherwise({ code }: Fault, ended: Ended): string {
  const { command, chain, typed, carried, header, isConnected } = ended;
  const look = textHere('kubectl cluster-info', ended);
  if (code === 'usage') return `${OURS} ${command} --help`;
  if (code === 'failed' && !isConnected) return header === undefined ? textHere('kubectl config get-contexts', ended) : look;
  const next = nextCommand({ exit: code, chain, typed, carried, findings: [] });
  if (code === 'interrupted' || code === 'stopped' || !isSame(next, typed)) return next;
  return code === 'failed' ? look : `${OURS} ${command} --help`;
}
