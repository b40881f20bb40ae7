import type { ChainOutcome } from '../engine/chain-outcome.ts';
import type { Effects } from '../kernel/action.ts';
import type { Finding } from '../kernel/check.ts';
import { type AnyCommand, Command, command, type Does, ownCommand, type Word } from '../kernel/command.ts';
import type { EngineEvent } from '../kernel/event.ts';
import { HIDDEN } from '../kernel/hidden.ts';
import { intentWords } from '../kernel/intent.ts';
import { advised, hintOf } from '../kernel/judge.ts';
import type { PlannedObject, PlannedStage } from '../kernel/plan.ts';
import { quoteFor } from '../kernel/quoting.ts';
import { hasStopped, type RunRecord, waitsForUser } from '../kernel/run-record.ts';
import { type Said, type Step, textOf } from '../kernel/step.ts';
import { oneLine } from '../kernel/visible.ts';
import { type Chain, chainOf } from './command-names.ts';
import type { Row, Table } from './flag.ts';
import { FLAG_ROWS, NEXT_FLAGS } from './flags.ts';

/** A flag of the command line that the next command needs as well. */
export interface CarriedFlag {
  /** `context`. */
  readonly name: string;
  /** The word itself, not quoted: `--context=prod`. */
  readonly word: string;
  /** It was read from the run record: whoever may write that chose it. */
  readonly fromRecord?: true;
}

const ROWS: Table = NEXT_FLAGS;
const CARRIED_ROWS = Object.entries(ROWS).filter(([, { carried }]) => carried);

/** A command has the flag of a row. */
export const isOn = ({ on, as = {} }: Row, command: string): boolean => on?.includes(command) === true || Object.hasOwn(as, command);

export const isOfOneWay = (name: string): boolean => ROWS[name]?.ofOneWay === true;

/** Every flag that is carried to one command or another. */
export const CARRIED = CARRIED_ROWS.map(([name]) => name);

/** Those that helm has, by its own names. */
const HELM = new Map(CARRIED_ROWS.flatMap(([name, { helm }]) => (helm === undefined ? [] : [[name, helm] as const])));

/** Names of the flags that a command may be given from the one before it; `kubectl` and `helm` themselves are such commands. */
export function carriedNames(command: string): readonly string[] {
  if (command === 'helm') return [...HELM.keys()];
  return CARRIED_ROWS.filter(([, row]) => isOn(row, command)).map(([name]) => name);
}

/** Flags of the connection, which kubectl has under the same names; credentials are not carried. */
const CONNECTION = carriedNames('kubectl');

/** The flags that belong to the run, whoever continues it from wherever; none of the connection, and no command of the user. */
export function flagsOfRun(flags: readonly CarriedFlag[]): readonly string[] {
  const isCommand = (flag: string) => ROWS[flag]?.isUserCommand === true;
  return flags.filter(({ name }) => !CONNECTION.includes(name)).map(({ name, word }) => (isCommand(name) ? `--${name}=${HIDDEN}` : word));
}

/** The carried flags that a command knows, as its words. */
function wordsFor(program: string, flags: readonly CarriedFlag[]): readonly Word[] {
  const known = carriedNames(program);
  return flags
    .filter(({ name }) => known.includes(name))
    .map(({ name, word }) => {
      const value = program === 'helm' ? inHelmsWords(name, word) : word;
      return { value, shown: quoteFor(process.platform, oneLine(value)) };
    });
}

/** The carried flags that a command knows, each quoted for the shell and with a space before it; empty if there are none. */
export function carriedTo(command: string, flags: readonly CarriedFlag[]): string {
  return wordsFor(command, flags)
    .map(({ shown }) => ` ${shown}`)
    .join('');
}

/** `status --watch`, of this program, with the carried flags that it knows behind it. */
export function oursWith(line: string, flags: readonly CarriedFlag[]): Command {
  const own = ownCommand(line);
  return new Command([...own.words, ...wordsFor(own.own ?? '', takenBy(own, flags))], own);
}

/** What continues a run, from wherever: `flags` of the command line, and those of its record. */
export function resumeCommand(flags: readonly CarriedFlag[], record: Resumed | undefined): Command {
  return oursWith(resumerOf(record), flags);
}

type Resumed = Pick<RunRecord, 'intent' | 'stages' | 'flags' | 'outcome' | 'finishedAt'>;

/** The command that resumes a recorded run; the one that began it would stop once more. */
export const resumerOf = (record: Resumed | undefined): 'run' | 'rollback' | 'commit' =>
  record && (waitsForUser(record) || hasStopped(record)) ? 'commit' : intentWords(record?.intent ?? { kind: 'upgrade' }).resumedBy;

function inHelmsWords(name: string, word: string): string {
  return `--${HELM.get(name) ?? name}${word.slice(`--${name}`.length)}`;
}

export interface Here {
  /** The command line that the findings are of: `plan -o wide`. */
  readonly typed: string;
  readonly carried: readonly CarriedFlag[];
  /** The commands that this version has. */
  readonly commands: readonly string[];
  readonly chain?: Pick<Chain, 'intent'> | undefined;
}

const NOT_OF_ROLLBACK = FLAG_ROWS.flatMap(([name, row]) => (isOn(row, 'rollback') ? [] : [name]));

/** It continues an upgrade, part or whole: in a rollback that would lead forward again. One that only shows, or undoes, leads nowhere. */
function leadsForth(next: AnyCommand): boolean {
  const { own = '', words } = next;
  const chains = [chainOf(own), ...words.map(({ value }) => chainOf(own, value))];
  return chains.some((chain) => chain?.leadsForth) && !next.gives('undo');
}

/** What continues an upgrade continues, in a rollback, the rollback: with those of its flags that a rollback has. */
function onwardHere<D extends Does>(chain: Here['chain'], next: Command<D>): Command<D> {
  if (chain?.intent !== 'rollback' || !leadsForth(next)) return next;
  const first = next.words.findIndex(({ value }) => value.startsWith('-'));
  const flags = first < 0 ? [] : next.words.slice(first);
  const back = new Command([...ownCommand('rollback').words, ...flags], next);
  return NOT_OF_ROLLBACK.reduce((left, name) => left.without(name), back);
}

/** The command here. A plan is one of what is done here: that of an upgrade says nothing of a rollback. */
export function planHere(chain: Here['chain'], next: Command, carried: readonly CarriedFlag[]): Command {
  return commandHere(chain?.intent === 'rollback' && next.own === 'plan' ? next.with('--rollback') : next, carried);
}

/** Of a plan of a rollback those that a rollback has: it refuses the others. */
function takenBy(next: AnyCommand, flags: readonly CarriedFlag[]): readonly CarriedFlag[] {
  const known = carriedNames('rollback');
  return next.gives('rollback') ? flags.filter(({ name }) => known.includes(name)) : flags;
}

/**
 * The findings' next steps and hints, completed for the cluster that was checked: without `--context` they would act on another one. A next
 * step equal to the command that just ended is replaced by the check's page.
 */
export function findingsHere(findings: readonly Finding[], here: Here): readonly Finding[] {
  return findings.map((finding) => {
    if (finding.steps === undefined) return finding;
    const hint = stepsHere(hintOf(finding), here);
    if (finding.next === undefined) return { ...finding, ...advised(hint, undefined) };
    // The procedure has stages that this version has no command for yet: what the user can do about them is in the page.
    const { own } = finding.next;
    const known = own === undefined || here.commands.includes(own);
    const next =
      here.chain?.intent === 'rollback' && leadsForth(finding.next)
        ? oursWith('rollback', here.carried)
        : planHere(here.chain, finding.next, here.carried);
    if (known && !isSame(next, here.typed)) return { ...finding, ...advised(hint, next) };
    return { ...finding, ...advised(hint, command`kubectl netsvc-upgrade explain ${finding.id}`), leads: undefined };
  });
}

/** The next step is the command line that has just ended, in whatever order and spelling its flags are. */
export function isSame(next: Command, typed: string): boolean {
  return next.own !== undefined && essence(next) === essence(ownCommand(typed));
}

/** Its words in one spelling (`-o wide`, `--output=wide`), without what changes where a command writes and whether it asks: not what it finds. */
function essence({ words }: Command): string {
  const said: string[] = [];
  for (const { value } of words) {
    const before = said.at(-1) ?? '';
    if (before.startsWith('-') && !before.includes('=') && !value.startsWith('-')) said.splice(-1, 1, `${before}=${value}`);
    else said.push(value);
  }
  const named = said.map((word) => word.replace(/^-\w(?![^=])/, (short) => LONG.get(short) ?? short));
  return [...new Set(named)]
    .filter((word) => !FORM.has(word.replace(/=.*/s, '')))
    .sort()
    .join(' ');
}

/** `-o` is `--output`. */
const LONG = new Map<string, string>(
  FLAG_ROWS.flatMap(([name, { char }]) => (char === undefined ? [] : [[`-${char}`, `--${name}`] as const])),
);
const FORM: ReadonlySet<string> = new Set(FLAG_ROWS.flatMap(([name, { isForm }]) => (isForm ? [`--${name}`] : [])));

/** Flags that may be given more than once: those of a command add to those that are carried. */
const REPEATABLE: ReadonlySet<string> = new Set(FLAG_ROWS.flatMap(([name, { multiple }]) => (multiple ? [name] : [])));

/** A command with the flags of the cluster that is meant. What it says itself is not carried: most flags may be given once. */
export function commandHere<D extends Does>(next: Command<D>, carried: readonly CarriedFlag[]): Command<D> {
  if (next.asks === 'nothing') return next;
  const more = takenBy(next, carried).filter(({ name }) => REPEATABLE.has(name) || !next.gives(name));
  const ofFile = more.filter(({ name }) => name === 'kubeconfig');
  return next.withFlags(({ program, sub }) => wordsFor(sub ?? program, next.asks === 'cluster' ? more : ofFile));
}

/** The same for the commands of a sentence. */
export function textHere(said: Said, { carried, commands, chain }: Here): Said {
  if (typeof said === 'string') return said;
  const isKnown = ({ own }: AnyCommand) => own === undefined || commands.includes(own);
  return said.map((part) => (part instanceof Command && isKnown(part) ? commandHere(onwardHere(chain, part), carried) : part));
}

export function stepsHere(steps: readonly Step[], here: Here): readonly Step[] {
  return steps.map((step) => step.as(textOf(textHere(step.text, here))));
}

/** What a plan says to the user: notes, what is left behind, and manual steps. What it does is not changed. */
export function stagesHere(stages: readonly PlannedStage[], here: Here): readonly PlannedStage[] {
  return stages.map((stage) => ({
    ...stage,
    notes: stage.notes.map((note) => textHere(note, here)),
    objects: stage.objects.map((object) => objectHere(object, here)),
    actions: stage.actions.map((action) => (action.effect.type === 'ask' ? { ...action, effect: askHere(action.effect, here) } : action)),
  }));
}

function objectHere(object: PlannedObject, here: Here): PlannedObject {
  const { note, takers } = object;
  if (note === undefined && takers === undefined) return object;
  return {
    ...object,
    ...(note === undefined ? {} : { note: textHere(note, here) }),
    ...(takers === undefined ? {} : { takers: takers.map((taker) => ({ ...taker, hint: textHere(taker.hint, here) })) }),
  };
}

function askHere(ask: Effects['ask'], here: Here): Effects['ask'] {
  const next = ask.next && commandHere(ask.next, here.carried);
  return { ...ask, instruction: textHere(ask.instruction, here), ...(next === undefined ? {} : { next }) };
}

/** What is said on the way. */
export function eventHere(event: EngineEvent, here: Here): EngineEvent {
  if (event.type === 'note') return { ...event, text: textHere(event.text, here) };
  return event.type === 'progress' && event.why !== undefined ? { ...event, why: textHere(event.why, here) } : event;
}

/** Everything that the end of a command suggests. */
export function outcomeHere<T extends Pick<ChainOutcome, 'findings' | 'plans' | 'steps'>>(outcome: T, here: Here): T {
  return {
    ...outcome,
    findings: findingsHere(outcome.findings, here),
    plans: stagesHere(outcome.plans, here),
    steps: stepsHere(outcome.steps, here),
  };
}
