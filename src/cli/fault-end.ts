import { type Command, command, kubeconfigCommand, ownCommand } from '../kernel/command.ts';
import { Fault, type FaultEnd } from '../kernel/fault.ts';
import { AGAIN, type Step, WHEN_READY } from '../kernel/step.ts';
import { commandHere, type Here, isSame, stepsHere } from './carried.ts';
import type { Chain } from './command-names.ts';
import { commandIn, nextCommand } from './ending/next-step.ts';

/** Where a command ended. */
export interface Ended extends Here {
  readonly command: string;
  readonly chain?: Chain | undefined;
  /** The cluster as the screens name it; undefined where it is not known yet. */
  readonly header: readonly string[] | undefined;
  /** The cluster has answered. */
  readonly isConnected: boolean;
  /** Nothing was changed, which is said where the error does not. */
  readonly isUnchanged: boolean;
}

/** What was thrown on the way, with hints for the cluster that it was about, and with the command that comes next. */
export function faultHere(fault: Fault, ended: Ended): Fault {
  const steps = stepsHere(fault.steps, ended);
  const next = commandIn(steps, (one) => !isSame(one, ended.typed)) ?? otherwise(fault, ended);
  // Who has just said no, or stopped it, has seen which cluster it was.
  const isOwnWill = fault.code === 'stopped' || fault.code === 'interrupted';
  const { header, isUnchanged } = ended;
  const around = isOwnWill || header === undefined ? {} : { header, ...(isUnchanged ? { closing: UNCHANGED } : {}) };
  return withEnd(fault, isSame(next, ended.typed) ? steps.filter((one) => !isAgain(one)) : steps, { next, ...around });
}

/** The same before anything is known of a cluster: what was typed could not be read, or names what there is not. */
export function faultEnded(fault: Fault, name: string): Fault {
  if (fault.end !== undefined) return fault;
  const next = fault.code === 'usage' ? helpOf(/^[a-z]/.test(name) ? name : '') : ownCommand('--version');
  return withEnd(fault, fault.steps, { next: commandIn(fault.steps) ?? next });
}

function withEnd({ code, message, cause }: Fault, steps: readonly Step[], end: FaultEnd): Fault {
  return new Fault(code, message, steps, cause, end);
}

const UNCHANGED = 'Nothing was changed by this command.';

/** What the next command itself says. */
function isAgain({ text: { parts } }: Step): boolean {
  return parts.every((part) => part === AGAIN || part === WHEN_READY);
}

const helpOf = (name: string) => command`kubectl netsvc-upgrade ${name} --help`;

/** Of an error whose hints have no command. */
function otherwise({ code }: Fault, ended: Ended): Command {
  const { command: name, chain, typed, carried, header, isConnected } = ended;
  const look = commandHere(command`kubectl cluster-info`, carried);
  if (code === 'usage') return helpOf(name);
  if (code === 'failed' && !isConnected)
    return header === undefined ? commandHere(kubeconfigCommand`kubectl config get-contexts`, carried) : look;
  const next = nextCommand({ exit: code, chain, typed, carried, findings: [] });
  if (code === 'interrupted' || code === 'stopped' || !isSame(next, typed)) return next;
  return code === 'failed' ? look : helpOf(name);
}
