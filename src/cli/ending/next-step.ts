import type { Finding } from '../../kernel/check.ts';
import type { ExitName } from '../../kernel/fault.ts';
import { type CarriedFlag, carriedTo } from '../carried.ts';

/** What the last line of every command is computed from. */
export interface Ending {
  readonly exit: ExitName;
  /** The command that ended: `run`, `apply`. */
  readonly command: string;
  /** Flags that the next command needs as well, if it knows them. */
  readonly carried: readonly CarriedFlag[];
  /** The command line as typed, for continuing: `run --through wait`. */
  readonly typed: string;
  readonly findings: readonly Finding[];
  /** What is said to whoever reads why it ended early. */
  readonly suggestions?: readonly string[];
  /** Something is left to do: only for `plan` and dry runs. */
  readonly pending?: boolean;
  readonly dryRun?: boolean;
  /** What resumes a run that another command left unfinished. */
  readonly resume?: string | undefined;
  /** The command of the first manual step that is left, of those that have one. */
  readonly manual?: string | undefined;
  /** File that the plan was saved to, quoted for a shell. */
  readonly savedPlan?: string;
}

/** The order in which single stages follow one another. */
const AFTER: Readonly<Record<string, string>> = {
  preflight: 'plan',
  backup: 'ownerrefs strip',
  'ownerrefs strip': 'crds',
  crds: 'apply',
  apply: 'wait',
  wait: 'ownerrefs restore',
  'ownerrefs restore': 'cli',
  // The upgrade is called off: nothing else ends the journal.
  'ownerrefs restore --undo': 'ownerrefs forget',
  cli: 'alp',
  alp: 'verify',
  hep: 'verify',
  policy: 'verify',
  verify: 'report',
  run: 'report',
  plan: 'run',
};

/** What was seen in memory is tried on a cluster, beginning with what changes nothing. A shell takes the rest for a comment. */
const DEMO_NEXT = 'kubectl netsvc-upgrade preflight   # your own cluster; changes nothing';

/** The cluster in memory is gone then. A wait that timed out is not the end: the same command continues the demo. */
export function endsDemo({ command, exit }: Pick<Ending, 'command' | 'exit'>): boolean {
  return command === 'demo' && exit !== 'timeout';
}

/** The exact next command. */
export function nextCommand(ending: Ending): string {
  const ours = (command: string) => `kubectl netsvc-upgrade ${command}${carriedTo(command, ending.carried)}`;
  if (endsDemo(ending)) return DEMO_NEXT;
  switch (ending.exit) {
    case 'done':
    case 'pending':
      return afterSuccess(ending, ours);
    case 'blocked':
    case 'warned':
    case 'conflicts':
      return fixFor(ending, ours);
    case 'stale':
      if (openErrors(ending).some(({ next }) => next !== undefined)) return fixFor(ending, ours);
      return `${ours('plan')} --out plan.json`;
    case 'locked':
      return ours('status --watch');
    case 'failed':
      return commandIn(ending.suggestions ?? []) ?? ours('status');
    case 'usage':
      return `kubectl netsvc-upgrade ${ending.typed} --yes`;
    case 'timeout':
    case 'stopped':
      // The same command again would end in the same way until somebody has looked.
      return lookOf(ending) ?? (ending.command === 'run' ? undefined : ending.manual) ?? again(ending, ours);
    case 'interrupted':
      return `kubectl netsvc-upgrade ${ending.typed}`;
  }
}

/** Behind our own words: what pods and statuses say, and what removes something, is never the next command. */
const STEP =
  /^(?:(?:see|look|read|find out|follow|wait|finish|begin|make|name|put back|print|check|another run)\b[^:]*(?<! (?:says|logs)): (?=(?:kubectl|helm|calicoctl|ls|curl|sha256sum) )|(?=kubectl netsvc-upgrade ))(.+)$/;

/** The first command of an error's hints, of those that `fits`. */
export function commandIn(hints: readonly string[], fits: (command: string) => boolean = () => true): string | undefined {
  return hints.flatMap((one) => STEP.exec(one)?.[1] ?? []).find(fits);
}

/** The first command that shows why, behind our own words for it: what pods, statuses and manual steps say is never the next command. */
function lookOf({ suggestions = [] }: Ending): string | undefined {
  const look = /^(?:see why(?: with)?|look at it|read the log of the operator): (kubectl (?!netsvc-upgrade ).+)$/;
  return suggestions.map((one) => look.exec(one)?.[1]).find((one) => one !== undefined);
}

/** A wait alone may wait for what nobody has started: `run` does what is missing, then waits. */
function again({ command, typed }: Ending, ours: (command: string) => string): string {
  return command === 'wait' ? ours('run') : `kubectl netsvc-upgrade ${typed}`;
}

function afterSuccess(ending: Ending, ours: (command: string) => string): string {
  if (ending.resume !== undefined) return ending.resume;
  if (ending.dryRun) return `kubectl netsvc-upgrade ${ending.typed.replace(/ --dry-run(=|\s+)(server|client)\b/, '')}`;
  // What was left out has to be evaluated before anything is planned.
  if (ending.typed.split(' ').includes('--read-only')) return ours('preflight');
  if (ending.command === 'plan' && ending.pending === false) return ours('verify');
  // A part of the chain: what comes then is in the record.
  if (ending.command === 'run' && ending.carried.some(({ name }) => name === 'through')) return ours('status');
  // The report can wait.
  if (ending.command === 'run' && ending.manual !== undefined) return ending.manual;
  const leading = ending.findings.find(
    ({ leads, outcome }) => outcome === 'warning' && leads !== undefined && leads === LEADS[ending.command],
  )?.next;
  if (ending.command === 'run' && leading !== undefined) return leading;
  if (ending.savedPlan !== undefined) return `${ours('run')} --plan-file ${ending.savedPlan}`;
  return leading ?? ours(AFTER[stepOf(ending)] ?? 'status');
}

/** Which findings say what comes next. */
const LEADS: Readonly<Record<string, Finding['leads']>> = { preflight: 'before', plan: 'before', run: 'after' };

/** What comes after a probe that is the next command: it is no step of the upgrade. */
export function afterProbe(next: string, { command, carried }: Pick<Ending, 'command' | 'carried'>): readonly string[] {
  if (!next.includes(' --probe-images')) return [];
  const then = command === 'plan' ? 'run' : 'plan';
  return [`Afterwards, if every node can pull them: kubectl netsvc-upgrade ${then}${carriedTo(then, carried)}`];
}

/** A command, with what it was told to do where that makes it another step of the chain: `ownerrefs strip`. */
function stepOf({ command, typed }: Ending): string {
  const words = typed.split(' ').slice(1);
  const isUndo = words.includes('--undo');
  if (isUndo) return words.includes('restore') ? 'ownerrefs restore --undo' : 'undo';
  const part = words.find((word) => Object.hasOwn(AFTER, `${command} ${word}`));
  return part === undefined ? command : `${command} ${part}`;
}

function fixFor(ending: Ending, ours: (command: string) => string): string {
  // What a run that is not at its end has left open is done by the rest of it.
  if (ending.command === 'verify' && ending.resume !== undefined) return ending.resume;
  const open = ending.exit === 'warned' ? ending.findings.filter(({ outcome }) => outcome === 'warning') : openErrors(ending);
  const first = open.find((finding) => finding.next !== undefined) ?? open[0];
  return first?.next ?? (first ? `kubectl netsvc-upgrade explain ${first.id}` : ours('preflight'));
}

function openErrors({ findings }: Ending): readonly Finding[] {
  return findings.filter(({ outcome }) => outcome === 'error');
}
