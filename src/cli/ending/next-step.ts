import type { Finding } from '../../kernel/check.ts';
import { type Command, command, mayComeNext, ownCommand } from '../../kernel/command.ts';
import type { ExitName } from '../../kernel/fault.ts';
import { quoteFor } from '../../kernel/quoting.ts';
import { type Step, type Text, text } from '../../kernel/step.ts';
import { type CarriedFlag, oursWith, planHere } from '../carried.ts';
import { type Chain, telling } from '../command-names.ts';

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
  readonly steps?: readonly Step[];
  /** Something is left to do: only for `plan` and dry runs. */
  readonly pending?: boolean;
  readonly dryRun?: boolean;
  /** What resumes a run that another command left unfinished. */
  readonly resume?: Command | undefined;
  /** The command of the first manual step that is left, of those that have one. */
  readonly manual?: Command | undefined;
  /** File that the plan was saved to. */
  readonly savedPlan?: string;
}

/** What was seen in memory is tried on a cluster, beginning with what changes nothing. */
const DEMO_NEXT = command`kubectl netsvc-upgrade preflight`.commented('your own cluster; changes nothing');

/** The cluster in memory is gone then. A wait that timed out is not the end: the same command continues the demo. */
export function endsDemo({ chain, exit }: Pick<Ending, 'chain' | 'exit'>): boolean {
  return chain?.inMemory === true && exit !== 'timeout';
}

/** The exact next command. It asks before it changes something: a pipeline adds --yes itself. */
export function nextCommand(ending: Ending): Command {
  const next = nextOf(ending);
  return next.own === undefined ? next : next.asking();
}

function nextOf(ending: Ending): Command {
  const ours = (line: string) => oursWith(line, ending.carried);
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
      return planHere(ending.chain, command`kubectl netsvc-upgrade plan`, ending.carried).with('--out', 'plan.json');
    case 'locked':
      return ours('status --watch');
    case 'failed':
      return commandIn(ending.steps ?? []) ?? ours('status');
    case 'usage':
      // What asks nobody is not pasted: the plan is looked at, then --yes added.
      return ownCommand(ending.typed).without('plan-file').with('--dry-run=client');
    case 'timeout':
    case 'stopped':
      // The same command again would end in the same way until somebody has looked.
      return lookOf(ending) ?? (ending.chain?.isUpgrade ? undefined : ending.manual) ?? again(ending, ours);
    case 'interrupted':
      return ownCommand(ending.typed);
  }
}

/** The first command of an error's steps, of those that `fits`: a look, or what this program does. None that repairs. */
export function commandIn(steps: readonly Step[], fits: (command: Command) => boolean = () => true): Command | undefined {
  const isDone = (kind: Step['kind'], { own }: Command) => kind === 'look' || (kind === 'do' && own !== undefined);
  return steps
    .flatMap(({ kind, text: { command } }) => (command !== undefined && mayComeNext(command) && isDone(kind, command) ? [command] : []))
    .find(fits);
}

/** The first command that shows why; what this program does is none. */
function lookOf({ steps = [] }: Ending): Command | undefined {
  return commandIn(
    steps.filter(({ kind }) => kind === 'look'),
    ({ own }) => own === undefined,
  );
}

/** A wait alone may wait for what nobody has started: the run does what is missing, then waits. */
function again({ chain, typed, resume }: Ending, ours: (line: string) => Command): Command {
  return chain?.resumedBy ? (resume ?? ours(chain.resumedBy)) : ownCommand(typed);
}

function afterSuccess(ending: Ending, ours: (line: string) => Command): Command {
  const { chain } = ending;
  if (ending.resume !== undefined) return ending.resume;
  if (ending.dryRun) return ownCommand(ending.typed).without('dry-run');
  // What was left out has to be evaluated before anything is planned.
  if (ownCommand(ending.typed).gives('read-only')) return ours(telling('readiness').id);
  if (chain?.onlyPlans && ending.pending === false) return ours(telling('result').id);
  // A part of the chain: what comes then is in the record.
  if (chain?.isUpgrade && isPart(ending.carried)) return ours('status');
  // The report can wait.
  if (chain?.isUpgrade && ending.manual !== undefined) return ending.manual;
  const leading = ending.findings.find(
    ({ leads, outcome }) => outcome === 'warning' && leads !== undefined && leads === chain?.leads,
  )?.next;
  if (chain?.isUpgrade && leading !== undefined) return leading;
  if (ending.savedPlan !== undefined)
    return ours(ending.chain?.next ?? 'run').with('--plan-file', {
      value: ending.savedPlan,
      shown: quoteFor(process.platform, ending.savedPlan),
    });
  return leading ?? ours(followerOf(ending));
}

/** As it was asked for. */
function isPart(flags: readonly CarriedFlag[]): boolean {
  const [through, until, canary, soak] = ['through', 'until', 'canary', 'soak'].map((name) => flags.some((flag) => flag.name === name));
  return Boolean(through || until || (canary && !soak));
}

/** What comes after the chain; what was undone is looked at, as nothing follows by itself. */
function followerOf({ chain, typed }: Ending): string {
  return (ownCommand(typed).gives('undo') ? chain?.afterUndo : chain?.next) ?? 'status';
}

/** What comes after a probe that is the next command: it is no step of the upgrade. */
export function afterProbe(next: Command, { chain, carried }: Pick<Ending, 'chain' | 'carried'>): readonly Text[] {
  if (!next.gives('probe-nodes')) return [];
  return [text`Afterwards, if every node is well: ${oursWith(chain?.onlyPlans ? chain.next : 'plan', carried)}`];
}

function fixFor(ending: Ending, ours: (line: string) => Command): Command {
  // What a run that is not at its end has left open is done by the rest of it.
  if (ending.chain?.tells === 'result' && ending.resume !== undefined) return ending.resume;
  const open = ending.exit === 'warned' ? ending.findings.filter(({ outcome }) => outcome === 'warning') : openErrors(ending);
  const first = open.find((finding) => finding.next !== undefined) ?? open[0];
  return first?.next ?? (first ? command`kubectl netsvc-upgrade explain ${first.id}` : ours(telling('readiness').id));
}

function openErrors({ findings }: Ending): readonly Finding[] {
  return findings.filter(({ outcome }) => outcome === 'error');
}
