import type { Finding } from '../../kernel/check.ts';
import type { ExitName } from '../../kernel/fault.ts';
import { type CarriedFlag, carriedTo } from '../carried.ts';
import type { Chain } from '../command-names.ts';

/** What the last line of every command is computed from. */
export interface Ending {
  readonly exit: ExitName;
  /** What the command performed that ended; absent where it performs no stage. */
  readonly chain?: Chain | undefined;
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

/** What was seen in memory is tried on a cluster, beginning with what changes nothing. A shell takes the rest for a comment. */
const DEMO_NEXT = 'kubectl netsvc-upgrade preflight   # your own cluster; changes nothing';

/** The cluster in memory is gone then. A wait that timed out is not the end: the same command continues the demo. */
export function endsDemo({ chain, exit }: Pick<Ending, 'chain' | 'exit'>): boolean {
  return chain?.inMemory === true && exit !== 'timeout';
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
      return lookOf(ending) ?? (ending.chain?.isUpgrade ? undefined : ending.manual) ?? again(ending, ours);
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
function again({ chain, typed }: Ending, ours: (command: string) => string): string {
  return chain?.resumedBy ? ours(chain.resumedBy) : `kubectl netsvc-upgrade ${typed}`;
}

function afterSuccess(ending: Ending, ours: (command: string) => string): string {
  const { chain } = ending;
  if (ending.resume !== undefined) return ending.resume;
  if (ending.dryRun) return `kubectl netsvc-upgrade ${ending.typed.replace(/ --dry-run(=|\s+)(server|client)\b/, '')}`;
  // What was left out has to be evaluated before anything is planned.
  if (ending.typed.split(' ').includes('--read-only')) return ours('preflight');
  if (chain?.onlyPlans && ending.pending === false) return ours('verify');
  // A part of the chain: what comes then is in the record.
  if (chain?.isUpgrade && ending.carried.some(({ name }) => name === 'through')) return ours('status');
  // The report can wait.
  if (chain?.isUpgrade && ending.manual !== undefined) return ending.manual;
  const leading = ending.findings.find(
    ({ leads, outcome }) => outcome === 'warning' && leads !== undefined && leads === chain?.leads,
  )?.next;
  if (chain?.isUpgrade && leading !== undefined) return leading;
  if (ending.savedPlan !== undefined) return `${ours('run')} --plan-file ${ending.savedPlan}`;
  return leading ?? ours(followerOf(ending));
}

/** What comes after the chain; what was undone is looked at, as nothing follows by itself. */
function followerOf({ chain, typed }: Ending): string {
  const isUndo = typed.split(' ').includes('--undo');
  return (isUndo ? chain?.afterUndo : chain?.next) ?? 'status';
}

/** What comes after a probe that is the next command: it is no step of the upgrade. */
export function afterProbe(next: string, { chain, carried }: Pick<Ending, 'chain' | 'carried'>): readonly string[] {
  if (!next.includes(' --probe-images')) return [];
  const then = chain?.onlyPlans ? chain.next : 'plan';
  return [`Afterwards, if every node can pull them: kubectl netsvc-upgrade ${then}${carriedTo(then, carried)}`];
}

function fixFor(ending: Ending, ours: (command: string) => string): string {
  // What a run that is not at its end has left open is done by the rest of it.
  if (ending.chain?.tells === 'result' && ending.resume !== undefined) return ending.resume;
  const open = ending.exit === 'warned' ? ending.findings.filter(({ outcome }) => outcome === 'warning') : openErrors(ending);
  const first = open.find((finding) => finding.next !== undefined) ?? open[0];
  return first?.next ?? (first ? `kubectl netsvc-upgrade explain ${first.id}` : ours('preflight'));
}

function openErrors({ findings }: Ending): readonly Finding[] {
  return findings.filter(({ outcome }) => outcome === 'error');
}
