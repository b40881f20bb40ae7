import type { ChainOutcome } from '../engine/chain-outcome.ts';
import type { Effects } from '../kernel/action.ts';
import { command, quoteFor } from '../kernel/argv.ts';
import type { Finding } from '../kernel/check.ts';
import type { EngineEvent } from '../kernel/event.ts';
import type { PlannedStage } from '../kernel/plan.ts';
import { oneLine } from '../kernel/visible.ts';
import { commonFlags } from './common-flags.ts';
import type { Row, Table } from './flag.ts';
import { FLAG_ROWS } from './flags.ts';
import { stageFlags } from './stage-flags.ts';
import { upgradeFlags } from './upgrade-flags.ts';

/** A flag of the command line that the next command needs as well. */
export interface CarriedFlag {
  /** `context`. */
  readonly name: string;
  /** The word itself, not quoted: `--context=prod`. */
  readonly word: string;
  /** It was read from the run record: whoever may write that chose it. */
  readonly fromRecord?: true;
}

/** In the order in which the next command is given them: the connection first. */
const ROWS: Table = { ...commonFlags, ...upgradeFlags, ...stageFlags };
const CARRIED_ROWS = Object.entries(ROWS).filter(([, { carried }]) => carried);

/** A command has the flag of a row. */
export const isOn = ({ on, as = {} }: Row, command: string): boolean => on?.includes(command) === true || Object.hasOwn(as, command);

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

/** The flags that belong to the run, whoever continues it from wherever; none of the connection. */
export function flagsOfRun(flags: readonly CarriedFlag[]): readonly string[] {
  return flags.filter(({ name }) => !CONNECTION.includes(name)).map(({ word }) => word);
}

/** The carried flags that a command knows, each quoted for the shell and with a space before it; empty if there are none. */
export function carriedTo(command: string, flags: readonly CarriedFlag[]): string {
  const [program = ''] = command.split(' ');
  const known = carriedNames(program);
  return flags
    .filter(({ name }) => known.includes(name))
    .map(({ name, word }) => ` ${quoteFor(process.platform, oneLine(program === 'helm' ? inHelmsWords(name, word) : word))}`)
    .join('');
}

/** What continues a run, from wherever: `flags` of the command line, and those of its record. */
export function resumeCommand(flags: readonly CarriedFlag[]): string {
  return `kubectl netsvc-upgrade run${carriedTo('run', flags)}`;
}

function inHelmsWords(name: string, word: string): string {
  return `--${HELM.get(name) ?? name}${word.slice(`--${name}`.length)}`;
}

export interface Here {
  /** The command line that the findings are of: `plan -o wide`. */
  readonly typed: string;
  readonly carried: readonly CarriedFlag[];
  /** The commands that this version has. */
  readonly commands: readonly string[];
}

/**
 * The findings' next steps and hints, completed for the cluster that was checked: without `--context` they would act on another one. A next
 * step equal to the command that just ended is replaced by the check's page.
 */
export function findingsHere(findings: readonly Finding[], here: Here): readonly Finding[] {
  const { typed, carried, commands } = here;
  return findings.map((finding) => {
    const told = finding.hint === undefined ? finding : { ...finding, hint: textHere(finding.hint, here) };
    if (finding.next === undefined) return told;
    // The procedure has stages that this version has no command for yet: what the user can do about them is in the page.
    const own = ownCommand(finding.next);
    const known = own === undefined || commands.includes(own);
    const next = nextHere(finding.next, carried);
    if (known && !isSame(next, typed)) return { ...told, next };
    return { ...told, next: command`kubectl netsvc-upgrade explain ${finding.id}`, leads: undefined };
  });
}

/** Flags that change where a command writes and whether it asks, not what it finds. */
const FORM = /^(?:--(?:report-file|quiet|no-progress|yes)\b|-[qvy](?:=|$))/;

/** The next step is the command line that has just ended, in whatever order and spelling its flags are. */
export function isSame(next: string, typed: string): boolean {
  return OURS.test(next) && essence(next.slice('kubectl netsvc-upgrade '.length)) === essence(typed);
}

function essence(line: string): string {
  const words = line
    .replaceAll(/(^| )--output(?=[= ])/g, '$1-o')
    .replaceAll(/ (-[^=\s]+) (?=[^-\s])/g, ' $1=')
    .split(' ');
  return [...new Set(words.filter((word) => word !== '' && !FORM.test(word)))].sort().join(' ');
}

const OURS = /^kubectl netsvc-upgrade ([a-z]+)(?= |$)/;

function ownCommand(next: string): string | undefined {
  return OURS.exec(next)?.[1];
}

/** Flags that may be given more than once: those of a command add to those that are carried. */
const REPEATABLE: ReadonlySet<string> = new Set(FLAG_ROWS.flatMap(([name, { multiple }]) => (multiple ? [name] : [])));

/** Carried flags come before those of the command; what the command says itself is not carried: most flags may be given once. */
export function nextHere<Next extends string>(next: Next, carried: readonly CarriedFlag[]): Next {
  return withFlags(next, carried) as Next;
}

function withFlags(next: string, carried: readonly CarriedFlag[]): string {
  const ours = OURS.exec(next);
  const isSaid = ({ name }: CarriedFlag) => !REPEATABLE.has(name) && new RegExp(`(?:^| )--${name}(?:[= ]|$)`).test(next);
  const more = carried.filter((flag) => !isSaid(flag));
  if (ours) return `${ours[0]}${carriedTo(ours[1] ?? '', more)}${next.slice(ours[0].length)}`;
  if (!next.startsWith('kubectl ')) return programsHere(next, carried);
  return `kubectl${carriedTo('kubectl', carried)}${programsHere(next.slice('kubectl'.length), carried)}`;
}

/** Commands of kubectl and helm that ask a cluster, wherever they stand in a text: behind a pipe too. */
const PROGRAM = new RegExp(
  `(?<![\\w/-])(?:kubectl(?=(?: -n \\S+)? (?:${[
    ...['annotate', 'api-resources', 'apply', 'auth', 'cluster-info', 'config', 'cordon', 'create', 'delete', 'describe', 'drain', 'edit'],
    ...['exec', 'get', 'label', 'logs', 'patch', 'replace', 'rollout', 'scale', 'top', 'uncordon', 'version', 'wait'],
  ].join('|')})\\b)|helm(?= (?:get|history|list|rollback|status|uninstall|upgrade)\\b))`,
  'g',
);

function programsHere(text: string, carried: readonly CarriedFlag[]): string {
  return text.replace(PROGRAM, (program, at: number) => {
    // It is asked because the context may be the wrong one.
    const isOfFile = text.startsWith(' config get-contexts', at + program.length);
    return `${program}${carriedTo(program, isOfFile ? carried.filter(({ name }) => name === 'kubeconfig') : carried)}`;
  });
}

const OURS_IN_TEXT = /kubectl netsvc-upgrade ([a-z]+)(?![\w-])([^;|]*)/g;

/** The same for commands within a sentence. */
export function textHere(text: string, { carried, commands }: Here): string {
  const own = text.replace(OURS_IN_TEXT, (whole, name: string) => (commands.includes(name) ? nextHere(whole, carried) : whole));
  return programsHere(own, carried);
}

/** What a plan says to the user: notes, what is left behind, and manual steps. What it does is not changed. */
export function stagesHere(stages: readonly PlannedStage[], here: Here): readonly PlannedStage[] {
  return stages.map((stage) => ({
    ...stage,
    notes: stage.notes.map((note) => textHere(note, here)),
    objects: stage.objects.map((object) => (object.note === undefined ? object : { ...object, note: textHere(object.note, here) })),
    actions: stage.actions.map((action) => (action.effect.type === 'ask' ? { ...action, effect: askHere(action.effect, here) } : action)),
  }));
}

function askHere(ask: Effects['ask'], here: Here): Effects['ask'] {
  return { ...ask, instruction: textHere(ask.instruction, here), next: ask.next && nextHere(ask.next, here.carried) };
}

/** What is said on the way. */
export function eventHere(event: EngineEvent, here: Here): EngineEvent {
  return event.type === 'note' ? { ...event, text: textHere(event.text, here) } : event;
}

/** Everything that the end of a command suggests. */
export function outcomeHere<T extends Pick<ChainOutcome, 'findings' | 'plans' | 'suggestions'>>(outcome: T, here: Here): T {
  return {
    ...outcome,
    findings: findingsHere(outcome.findings, here),
    plans: stagesHere(outcome.plans, here),
    suggestions: outcome.suggestions.map((one) => textHere(one, here)),
  };
}
