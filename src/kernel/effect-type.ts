import type { Action, Effect, Effects, Exec, Expectations, Guards, Preconditions } from './action.ts';
import { commandLine, type RunToolOptions, type Tool } from './argv.ts';
import type { NetworkTrace, Watcher } from './connections.ts';
import type { Options } from './context.ts';
import { Fault } from './fault.ts';
import { mask } from './hidden.ts';
import type { Interruption } from './interruption.ts';
import type { JournalStore } from './journal.ts';
import type { Cluster, Lock, Machine, Sources } from './ports.ts';
import type { RolloutProgress } from './rollout.ts';
import type { RecordNotes } from './run-record.ts';
import type { Said } from './step.ts';
import { AGAIN, againAs, text } from './step.ts';
import type { UserCommands } from './user-command.ts';

/** Everything the engine acts through. */
export interface EnginePorts extends Sources {
  /** What actions may do: the effects of the kernel and of the features. */
  readonly effects: EffectTypes;
  readonly cluster: Cluster;
  readonly lock: Lock;
  readonly journal: JournalStore;
  readonly machine: Machine;
  readonly interruption: Interruption;
  readonly commands: UserCommands;
  /** Who runs this, for the record: `alice@host`. */
  readonly operator: string;
  readonly toolVersion: string;
}

/** The name that a tool has on this machine: `netsvcctl` → `calicoctl`. */
type ProgramOf = (tool: Tool) => string;

/** All that the program has to know of one kind of effect. */
export interface EffectType<E> {
  /** `writes`: changes the cluster or this machine; `files`: only adds files to a local folder; `nothing`: waits or reports. */
  readonly does: 'writes' | 'files' | 'nothing';
  /** Its content is fixed by the plan: a run that is held to a saved plan refuses another one. */
  readonly isFixed: boolean;
  /** It ends the chain for the user to decide: it is performed although nothing is left to write. */
  readonly stops?: true;
  /** The watcher that it leaves: where the chain has one, it is not performed again. */
  readonly leaves?: string;
  /** Noted in the run record before it is performed: a run that is killed in between must not count on what is gone. */
  readonly notesFirst?: RecordNotes;
  perform(ports: EnginePorts, effect: E, around: Around): Promise<Performed>;
  /** `--dry-run=server`: the server is asked, and nothing is stored. `announced` where only the write itself could tell. */
  dryRun(ports: EnginePorts, effect: E, around: Around): Promise<Performed>;
  /** The command that the user could type, or the same in words; one line. */
  text(effect: E, programOf: ProgramOf): string;
  /** As it may be shown: without values of Secrets, and with long contents by their size. */
  mask(effect: E): E;
  /** What tells it from another one with the same purpose: without names and limits that differ from run to run. */
  digest(effect: E): unknown;
}

/** Of an `EffectType.dryRun`: what it does is not sent to the server. */
export async function announced(): Promise<Performed> {
  return { detail: 'not performed (dry run)' };
}

/** Of `mask` and `digest`: nothing is left out. */
export function whole<E>(effect: E): E {
  return effect;
}

export interface ExpectationType<E> {
  /** Resolves once the world looks like that. Throws Fault `timeout` (naming what lags) or `interrupted`. */
  wait(ports: EnginePorts, expected: E, around: Around & { readonly timeoutMs: number }): Promise<Performed>;
  /** What is waited for: `wait for …`. */
  text(expected: E): string;
  /** As of an effect; all of it where absent. */
  digest?(expected: E): unknown;
}

export interface PreconditionType<P> {
  /** Throws Outdated where it does not hold. */
  assert(ports: EnginePorts, expected: P, around: Pick<Around, 'stop'>): Promise<void>;
  /** Runs the program in place of the engine, where its failure has to be read in the light of what was expected. */
  run?(ports: EnginePorts, exec: Exec, expected: P, around: { readonly cut: AbortSignal; readonly onLine: OnLine }): Promise<void>;
}

export interface GuardType<E extends Effect> {
  /** The effects that it guards: each of them, whatever planned it. */
  readonly of: E['type'];
  /** Throws Fault where the write must not happen. */
  assert(ports: EnginePorts, effect: E): Promise<void>;
}

export type EffectTypes = { readonly [T in keyof Effects]: EffectType<Effects[T]> };
export type ExpectationTypes = { readonly [T in keyof Expectations]: ExpectationType<Expectations[T]> };
export type PreconditionTypes = { readonly [T in keyof Preconditions]: PreconditionType<Preconditions[T]> };
export type GuardTypes = { readonly [G in keyof Guards]: GuardType<Guards[G]> };

/** Of the kernel; the engine performs them. */
type CoreEffects = Pick<EffectTypes, 'exec' | 'patch-all' | 'delete' | 'write' | 'wait' | 'ask'>;
type CoreExpectations = Pick<ExpectationTypes, 'time-passed'>;

/** What the features add: a type that one of them names and none registers is a type error. */
export interface FeatureEffects {
  readonly effects: Omit<EffectTypes, keyof CoreEffects>;
  readonly expectations: Omit<ExpectationTypes, keyof CoreExpectations>;
  readonly preconditions: PreconditionTypes;
  readonly guards: GuardTypes;
}

/** The type of this effect. */
export function typeOf(effects: EffectTypes, { type }: Effect): EffectType<Effect> {
  return effects[type] as EffectType<Effect>;
}

/** True if the action changes the cluster or this machine (and not only waits, or writes into the work folder). */
export function changesSomething(effects: EffectTypes, { effect }: Action): boolean {
  return typeOf(effects, effect).does === 'writes';
}

/** True if the action only puts files into a folder of this machine: the cluster is as it was, and no time was waited. */
export function onlyWritesFiles(effects: EffectTypes, { effect }: Action): boolean {
  return typeOf(effects, effect).does === 'files';
}

/** What an action does as one line. */
export type ActionText = (action: Action) => string;

export function actionTexts(effects: EffectTypes, programOf: ProgramOf): ActionText {
  return ({ effect }) => mask(typeOf(effects, effect).text(effect, programOf));
}

/** Tells how far an action on many objects is. */
export type Report = (done: number, of: number, what: string, why?: Said) => void;

/** Told each line that a program writes. */
export type OnLine = NonNullable<RunToolOptions['onLine']>;

/** What an effect has around it while it is performed: when to end, whom to tell, and what the run has continued without. */
export interface Around {
  /** Ends waits at the first Ctrl-C, or when the lock is lost. */
  readonly stop: AbortSignal;
  /** Ends programs: only when nothing more may be written. */
  readonly cut: AbortSignal;
  /** Throws when nothing may be written any more (lost lock). */
  mustHold(): void;
  /** Leaves something that watches the rest of the chain. */
  watch(watcher: Watcher): void;
  /** That an earlier action left. */
  watcher(name: string): Watcher | undefined;
  /** The time for which the action watches begins again. */
  watchesAgain(): Promise<void>;
  readonly limits: Pick<Options, 'qps' | 'parallel'>;
  /** Workloads that earlier waits of the run left behind; those of this one are added. */
  readonly leftBehind: Set<string>;
  readonly report: Report;
  /** A line that the user should read while it continues. */
  readonly warn: (text: Said) => void;
  readonly onProgress: (progress: readonly RolloutProgress[], elapsedMs: number) => void;
  /** `because`: what has just happened to one of the connections. */
  readonly onNetwork: (network: NetworkTrace, because?: string) => void;
  readonly onLine: OnLine;
}

/** What came of an action. */
export interface Performed {
  /** A few words for the report. */
  readonly detail?: string | undefined;
  /** What it found out, for the line of its stage at the end of the run and in its record. */
  readonly told?: string;
  /** sha256 of what was fetched for it, by file name. */
  readonly digests?: Readonly<Record<string, string>>;
  /** For the run record. */
  readonly notes?: RecordNotes;
  /** What did not come to its end and is not changed, within what the user tolerates: object → why. */
  readonly left?: Readonly<Record<string, string>>;
}

const LIMIT_MS = 600_000;

/** Runs the program of an action to its end, or until the signal. Throws Fault with the program's own last words. */
export async function runTool(
  { tools }: EnginePorts,
  { run, program }: Pick<Exec, 'run' | 'program'>,
  signal: AbortSignal,
  onLine: OnLine,
): Promise<void> {
  const result = await tools.run(run, { timeoutMs: LIMIT_MS, signal, onLine, ...(program === undefined ? {} : { program }) });
  const name = program ?? tools.programOf(run.tool);
  const command = commandLine(run, name);
  if (result.problem === 'not-found') {
    throw new Fault('failed', `${name} was not found on PATH`, [text`install ${name}, then ${AGAIN}`]);
  }
  if (result.problem === 'cancelled') throw new Fault('interrupted', `stopped in the middle of: ${command}`, [AGAIN]);
  if (result.problem === 'timed-out') throw new Fault('timeout', `no answer within ${LIMIT_MS / 1000} s: ${command}`, RERUN_AFTER_FIX);
  if (result.exitCode !== 0) throw new Fault('failed', `${command} failed: ${lastLines(result.stderr || result.stdout)}`, RERUN_AFTER_FIX);
  // kubectl says `serverside-applied` and exits 0 even if its last step failed: the warning is the only sign.
  if (/failed to re-apply configuration after performing Server-Side Apply migration/.test(result.stderr)) {
    throw new Fault('failed', `${command} left an object half-changed: ${lastLines(result.stderr)}`, RERUN_AFTER_FIX);
  }
}

const RERUN_AFTER_FIX = [text`fix the cause, then ${againAs('what is done stays done')}`];

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-4).join(' | ').slice(0, 2000) || 'it said nothing';
}
