import type { Trace } from '../adapters/trace.ts';
import type { Decisions } from '../engine/prepared.ts';
import type { Context } from '../kernel/context.ts';
import type { ExitName, Fault } from '../kernel/fault.ts';
import { mask } from '../kernel/hidden.ts';
import { beforeChanges, interrupted, interruptedBetween, interruptedReading, isGivenUp, isInterrupted } from '../kernel/interruption.ts';
import { ownName } from '../kernel/own-name.ts';
import { quoteFor } from '../kernel/quoting.ts';
import { STATE_NAMESPACE } from '../kernel/run-record.ts';
import type { AnyStage } from '../kernel/stage.ts';
import { indented } from '../kernel/visible.ts';
import { type Palette, palette } from '../report/colour.ts';
import type { Progress } from '../report/progress-text.ts';
import type { CarriedFlag } from './carried.ts';
import { findingsHere } from './carried.ts';
import type { Made } from './documents.ts';
import type { ReportFile } from './ending/file.ts';
import { errorDocument, errorLines } from './error-text.ts';
import { toFault } from './faults.ts';
import type { OutputFormat, RunFlags } from './flags.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { Notices } from './notify/notices.ts';
import { agreeing } from './recorded-flags.ts';
import type { Acting, Composition, Interrupts, MeantCluster, Needs, Seams } from './seams.ts';
import { tellErr } from './terminal.ts';
import { withoutUserCommands } from './user-commands.ts';

export type SessionFlags = RunFlags & { readonly output: OutputFormat };

/** A command as it was asked for. */
export interface Asked extends Needs {
  /** `apply`. */
  readonly command: string;
  /** The command line after the program's name, without credentials: what continues it. */
  readonly typed: string;
  /** Flags that a next command needs as well. */
  readonly carried: readonly CarriedFlag[];
  /** Names of the commands that this version has. */
  readonly commands: readonly string[];
  readonly flags: SessionFlags;
}

/** What a command does at the moment, for the words of one that is ended by Ctrl-C: `unknown` may write. */
interface Doing {
  now: 'unknown' | 'reading' | 'between steps';
}

/** What a session shares with those that follow it: where its end goes besides stdout, and what it does at the moment. */
interface Outlets {
  readonly doing: Doing;
  /** Only with `--report-file`. */
  readonly report?: ReportFile;
  /** Only with `--notify`. */
  readonly notices?: Notices;
  /** Only with `--metrics-file`. */
  readonly metrics?: Metrics;
}

/** One command on one cluster, from the first request to the last line. */
export class Session {
  readonly seams: Seams;
  readonly asked: Asked;
  readonly composition: Composition;
  readonly interrupts: Interrupts;
  readonly outPalette: Palette;
  readonly errPalette: Palette;
  readonly outlets: Outlets;

  constructor(seams: Seams, asked: Asked, composition: Composition, interrupts: Interrupts, outlets: Outlets) {
    this.outlets = outlets;
    this.seams = seams;
    this.asked = asked;
    this.composition = composition;
    this.interrupts = interrupts;
    const { terminal, env } = seams;
    this.outPalette = palette({ isTerminal: terminal.outIsTerminal, env });
    this.errPalette = palette({ isTerminal: terminal.errIsTerminal, env });
  }

  get context(): Context {
    return this.composition.context;
  }

  /** The same with what the user has just decided, as if it had been given by `--accept` and `--resolve`. */
  async deciding(decisions: Decisions): Promise<Session> {
    const { decided } = await import('../engine/prepared.ts');
    return this.#with(decided(this.context, decisions));
  }

  /** The same with the saved plan that was found to be still true. */
  agreedTo(savedPlan: string): Session {
    return this.#with({ savedPlan });
  }

  /** The same with the nodes whose agents come first, as they were shown. */
  withCanary(nodes: readonly string[]): Session {
    // A name of digits alone would be a number.
    const canary = nodes.map((node) => `${node},`).join('');
    return this.#with({ options: { ...this.context.options, canary, isCanaryShown: true } });
  }

  #with(more: Partial<Context>): Session {
    const context = { ...this.context, ...more };
    return new Session(this.seams, this.asked, { ...this.composition, context }, this.interrupts, this.outlets);
  }

  /** The ports of the engine. */
  async acting(): Promise<Acting> {
    return { ...this.composition, effects: await this.seams.loadEffects() };
  }

  /** A line for the user; never on stdout. Further lines of it stand further right. */
  say(line: string): void {
    tellErr(this.seams.terminal, `${indented(line)}\n`);
  }

  /** Why the command ends early, on stderr beside its document: with -o json one line of JSON, as for every error. */
  fail(fault: Fault): void {
    const isJson = this.asked.flags.output === 'json';
    if (isJson) this.seams.terminal.err(`${JSON.stringify(errorDocument(fault))}\n`);
    else for (const line of errorLines(fault, [], this.errPalette)) this.say(line);
  }

  async progress(phase: 'plan' | 'run', stages: readonly { readonly id: string; readonly title: string }[]): Promise<Progress> {
    const { terminal, every, env } = this.seams;
    const mode = progressMode(this.asked.flags, terminal.errIsTerminal && env.TERM !== 'dumb');
    const { startProgress } = await import('../report/progress.ts');
    return startProgress({
      mode,
      phase,
      stages,
      palette: this.errPalette,
      write: (text) => tellErr(terminal, text),
      now: () => this.composition.clock.now(),
      each: (this.asked.flags.v ?? 0) > 0,
      every,
    });
  }

  /** Surveys, evaluates and plans every stage; changes nothing. */
  async plan(stages: readonly AnyStage[]) {
    const { prepare } = await import('../engine/prepared.ts');
    const progress = await this.progress('plan', stages);
    const ports = await this.acting();
    try {
      const prepared = await beforeChanges(prepare({ stages, context: this.context, ports }, progress.observe));
      const { plan, looks, seen } = prepared;
      const installed = await this.seams.installed(seen);
      return { ...plan, effects: ports.effects, findings: findingsHere(plan.findings, this.asked), installed, looks, prepared };
    } finally {
      await progress.close();
    }
  }

  /** Which cluster the command asked: the first line for the user. */
  header(palette = this.outPalette): string {
    return palette.strong(headerOf(this.context).map(palette.piece).join('   '));
  }

  /** What a report says about itself. */
  made(): Made {
    const { operator, toolVersion, clock } = this.composition;
    const commandLine = withoutUserCommands(`${ownName()} ${this.asked.typed}`, this.asked.carried);
    return { commandLine, by: operator, at: clock.now().toISOString(), toolVersion };
  }
}

const headerOf = ({ contextName, server }: MeantCluster): readonly string[] => [
  ...(contextName === '' ? [] : [`context "${contextName}"`]),
  server,
];

/** The live view needs a terminal that nothing else writes to; only JSON and YAML documents have no progress at all. */
function progressMode({ output, quiet, v = 0, ...flags }: SessionFlags, canRepaint: boolean): 'silent' | 'tree' | 'lines' {
  if (quiet || output === 'json' || output === 'yaml') return 'silent';
  return canRepaint && v === 0 && !flags['no-progress'] ? 'tree' : 'lines';
}

function traceOf(level: number | undefined, { terminal }: Seams): Trace | undefined {
  return level ? { level, say: (line) => terminal.err(`${mask(line)}\n`) } : undefined;
}

/** Joins the ports, does the work, and closes everything whatever happens. A report that was asked for is written also when the work fails. */
export async function inSession(seams: Seams, asked: Asked, work: (session: Session) => Promise<ExitName>): Promise<ExitName> {
  // Objects of a large cluster come and go: without it V8 lets several times of what lives pile up before it looks. And while it marks bit
  // by bit it collects no young objects: 15 MiB of them came up in 0.1 s; marking all at once takes 20 ms.
  for (const flag of ['--heap-growing-percent=30', '--no-incremental-marking'])
    process.getBuiltinModule('node:v8').setFlagsFromString(flag);
  const { flags } = asked;
  const file = flags['report-file'];
  const say = (line: string) => seams.terminal.err(`${line}\n`);
  const report = file === undefined ? undefined : await (await import('./ending/file.ts')).openReport(file, say);
  const warn = (text: string) => tellErr(seams.terminal, `${indented(text)}\n`);
  const noticesWith = flags.notify === undefined ? undefined : await (await import('./notify/notices.ts')).openNotices(seams, flags);
  let composition: Composition | undefined;
  const now = () => composition?.clock.now() ?? new Date();
  const metrics = await metricsOf(seams, flags, now, warn);
  const interrupts = seams.listenForInterrupts(warn);
  const doing: Doing = { now: 'reading' };
  let meant: MeantCluster | undefined;
  const notices = noticesWith?.({
    intent: asked.chain?.intent ?? 'upgrade',
    cut: interrupts.over,
    withoutCommands: (document) => withoutUserCommands(document, asked.carried),
    now,
    warn: (text) => warn(`Warning: ${text}`),
  });
  const whole = async () => {
    composition = await seams.compose({
      ...asked,
      env: seams.env,
      interruption: interrupts,
      interactive: seams.terminal.interactive,
      agree: agreeing(seams.terminal, asked, interrupts.soft),
      warn: (text: string) => warn(`Warning: ${text}`),
      trace: traceOf(flags.v, seams),
      meant: (cluster) => {
        meant = cluster;
      },
    });
    const { contextName, clusterUid, goal, intent } = composition.context;
    notices?.know({ context: contextName, clusterUid, to: goal.release }, intent.kind);
    metrics?.know({ to: goal.release });
    if (asked.looksOnly !== true) doing.now = 'unknown';
    try {
      return await work(
        new Session(seams, withRecordOf(composition, asked, warn), composition, interrupts, { doing, report, notices, metrics }),
      );
    } finally {
      await composition.close();
    }
  };
  try {
    const exit = await unlessOver(whole(), interrupts.over, () => composition?.close());
    const defect = interrupts.defect?.();
    if (defect) throw defect.thrown;
    return exit;
  } catch (caught) {
    const fault = toFault(interrupts.defect?.()?.thrown ?? endedWords(caught, doing), { command: asked.command, flags: [] });
    const { faultHere } = await import('./fault-end.ts');
    const place = composition?.context ?? meant;
    const header = place && headerOf(place);
    const told = faultHere(fault, { ...asked, header, isConnected: composition !== undefined, isUnchanged: doing.now === 'reading' });
    await report?.writeFailure(asked.command, told);
    await notices?.failed(told);
    await metrics?.failed(told);
    throw told;
  } finally {
    interrupts.release();
  }
}

/** Before anything is asked of the cluster. */
async function metricsOf(
  { every }: Seams,
  flags: SessionFlags,
  now: () => Date,
  warn: (text: string) => void,
): Promise<Metrics | undefined> {
  if (flags['metrics-file'] === undefined) return undefined;
  const { openMetrics } = await import('./metrics/metrics.ts');
  return openMetrics(flags, { now, every, warn: (text) => warn(`Warning: ${text}`) });
}

/** What was given up does not know what it was a part of: the command does. */
function endedWords(caught: unknown, { now }: Doing): unknown {
  if (now === 'reading') return isInterrupted(caught) ? interruptedReading() : caught;
  return now === 'between steps' && isGivenUp(caught) ? interruptedBetween() : caught;
}

/** The same with what was taken from the run record, which is said: the user did not type it. The record may say what is continued, too. */
function withRecordOf({ recorded = [], context }: Composition, asked: Asked, say: (text: string) => void): Asked {
  const words = recorded.map(({ word }) => ` ${quoteFor(process.platform, word)}`).join('');
  if (words !== '' && asked.flags.quiet !== true) say(`taken from the run record in namespace ${STATE_NAMESPACE}:${words}`);
  const { intent } = context;
  return { ...asked, carried: [...asked.carried, ...recorded], ...(asked.chain ? { chain: { ...asked.chain, intent: intent.kind } } : {}) };
}

/** What ignores Ctrl-C is left behind: the process ends with the command. Credentials on disk are removed first. */
async function unlessOver<T>(whole: Promise<T>, over: AbortSignal, close: () => Promise<void> | undefined): Promise<T> {
  const cut = new Promise<never>((_, reject) => {
    over.addEventListener('abort', () => reject(interrupted()), { once: true });
  });
  cut.catch(() => close()?.catch(() => undefined));
  whole.catch(() => undefined);
  return Promise.race([whole, cut]);
}
