import {
  DefaultRenderer,
  Listr,
  ListrDefaultRendererLogLevels,
  ListrLogger,
  type ListrTaskWrapper,
  ProcessOutput,
  type SilentRenderer,
} from 'listr2';
import { timeText } from '../kernel/counted.ts';
import type { EngineEvent } from '../kernel/event.ts';
import { plainText, type Said } from '../kernel/step.ts';
import { forTerminal, indented, visible } from '../kernel/visible.ts';
import { clip, displayWidth } from './columns.ts';
import { besideText, type Progress, type ProgressOptions, progressText, stepText } from './progress-text.ts';
import { RolloutPace, type Room, rolloutLines } from './rollout-view.ts';

type Task = ListrTaskWrapper<undefined, typeof ScreenRenderer, typeof SilentRenderer>;

interface Ending {
  readonly type: 'done' | 'failed' | 'skipped';
  readonly text: string;
}

/** Text that nothing calls for. */
type Dim = (text: string) => string;

/**
 * One stage on the screen: a listr2 task that lasts until the engine ends the stage. listr2 writes to the terminal itself, so every text
 * for it is made visible here.
 */
class StageLine {
  readonly title: string;
  readonly #dim: Dim;
  readonly #width: number;
  readonly #ended: Promise<Ending>;
  #resolve: (ending: Ending) => void = () => undefined;
  #task: Task | undefined;
  #text = '';
  /** Below everything else that it says. */
  #foot = '';
  #pace = new RolloutPace();

  constructor(title: string, dim: Dim, width: number) {
    this.#dim = dim;
    this.#width = width;
    this.title = clip(visible(title), width);
    this.#ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** Of the wait that is at work. */
  get pace(): RolloutPace {
    return this.#pace;
  }

  begin(): void {
    this.#pace = new RolloutPace();
  }

  say(said: string): void {
    const text = visible(said);
    if (text === this.#text) return;
    this.#text = text;
    this.#draw();
  }

  stand(said: string): void {
    this.#foot = clip(visible(said), this.#width);
    this.#draw();
  }

  #draw(): void {
    const output = [this.#text, this.#foot].filter((part) => part !== '').join('\n');
    if (this.#task && output !== '') this.#task.output = output;
  }

  end(ending: Ending): void {
    this.#resolve({ ...ending, text: visible(ending.text) });
  }

  async show(task: Task): Promise<void> {
    this.#task = task;
    this.#draw();
    const ending = await this.#ended;
    if (ending.type === 'failed') throw new Error(ending.text);
    if (ending.type === 'skipped') task.skip(this.#dim(this.#with(`: ${ending.text}`)));
    else if (ending.text) task.title = this.#with(` ${ending.text}`);
  }

  /** How it ended is the last to be cut. */
  #with(ending: string): string {
    return clip(this.title, Math.max(1, this.#width - displayWidth(ending))) + ending;
  }
}

/** listr2 asks whether stdout is a terminal; the list is drawn on stderr, also where stdout is piped. */
class ScreenRenderer extends DefaultRenderer {
  static override nonTTY = true;
}

/** A stage that is not needed, or that never began, is neither good nor bad: its mark is dim. */
function looks(dim: Dim) {
  const mark = (text?: string) => dim(text ?? '');
  const { SKIPPED_WITH_COLLAPSE, COMPLETED_WITH_FAILED_SISTER_TASKS } = ListrDefaultRendererLogLevels;
  return { color: { [SKIPPED_WITH_COLLAPSE]: mark, [COMPLETED_WITH_FAILED_SISTER_TASKS]: mark } };
}

/** The stages as a list that repaints, on stderr; listr2 only draws, it owns neither signals nor control flow. */
export function treeProgress(options: ProgressOptions): Progress {
  const dim: Dim = (text) => forTerminal(options.palette.dim(text));
  const screen = options.screen ?? process.stderr;
  const width = roomBeside(0, screen).columns;
  const planning = options.phase === 'plan' ? new StageLine('planning (nothing is changed)', dim, width) : undefined;
  const lines = new Map(options.stages.map(({ id, title }) => [id, new StageLine(`${id}: ${title}`, dim, width)]));
  const shown = planning ? [planning] : [...lines.values()];
  const logger = new ListrLogger({ useIcons: true, processOutput: new ProcessOutput(screen, screen) });
  const tasks = shown.map((line) => ({ title: line.title, task: (_: undefined, task: Task) => line.show(task) }));
  const list = new Listr<undefined, typeof ScreenRenderer, typeof SilentRenderer>(tasks, {
    renderer: ScreenRenderer,
    exitOnError: true,
    registerSignalListeners: false,
    fallbackRendererCondition: false,
    rendererOptions: { ...looks(dim), logger, collapseErrors: false, collapseSkips: true, clearOutput: planning !== undefined },
  });
  const drawn = list.run().catch(() => undefined);
  const warnings: Said[] = [];
  let current: StageLine | undefined;
  const beside = new Map<string, string>();
  return {
    observe(event) {
      const said = besideText(event);
      if (said !== undefined) beside.set(event.type, said);
      if (event.type === 'stage-started') current = lines.get(event.stage);
      if (beside.size > 0) current?.stand([...beside.values()].join('; '));
      if (event.type === 'network' && event.because !== undefined) warnings.push(event.because);
      if (event.type === 'note' && event.level === 'warning') warnings.push(event.text);
      if (planning) showPlanning(event, planning);
      else if (event.type !== 'probe' && event.type !== 'network')
        show(event, lines.get(event.stage), roomBeside(options.stages.length + (beside.size === 0 ? 0 : 1), screen));
    },
    async close() {
      for (const line of shown) line.end({ type: 'skipped', text: 'not started' });
      await drawn;
      for (const warning of warnings) options.write(`${options.palette.warn(indented(`Warning: ${options.palette.said(warning)}`))}\n`);
    },
  };
}

/** Columns that listr2 takes in front of and behind an output. */
const MARGIN = 6;

/** Lines left beside one per stage and the cursor's: anything longer would scroll, not repaint. */
export function roomBeside(stages: number, terminal: { readonly rows?: number; readonly columns?: number }): Room {
  return { rows: Math.max(1, (terminal.rows || 24) - stages - 1), columns: Math.max(20, (terminal.columns || 80) - MARGIN) };
}

function show(event: Exclude<EngineEvent, { readonly type: 'probe' | 'network' }>, line: StageLine | undefined, room: Room): void {
  if (event.type === 'action-started') line?.begin();
  const ending = runEnding(event);
  const text = line && runText(event, room, line.pace);
  if (ending) line?.end(ending);
  else if (text !== undefined)
    line?.say(
      text
        .split('\n')
        .map((one) => clip(one, room.columns))
        .join('\n'),
    );
}

/** One line for the whole plan: a mark per stage would say that the stage ran. */
function showPlanning(event: EngineEvent, line: StageLine): void {
  if (event.type === 'stage-started') line.say(`${event.stage}: ${event.title}`);
}

function runEnding(event: EngineEvent): Ending | undefined {
  switch (event.type) {
    case 'judged':
      return refusal(event.findings.filter((finding) => finding.outcome === 'error').length);
    case 'action-failed':
      return { type: event.held ? 'done' : 'failed', text: event.held ? '(held)' : event.message };
    case 'stage-skipped':
      // The reason is in the table at the end; a second row is too much for a low terminal.
      return { type: 'skipped', text: 'not needed' };
    case 'stage-done':
      return { type: 'done', text: `(${timeText(event.durationMs)})` };
    default:
      return undefined;
  }
}

/** Failed checks end a stage before it acts. */
function refusal(failed: number): Ending | undefined {
  return failed === 0 ? undefined : { type: 'failed', text: `${failed} ${failed === 1 ? 'check' : 'checks'} failed` };
}

function runText(event: EngineEvent, room: Room, pace: RolloutPace): string | undefined {
  switch (event.type) {
    case 'action-started':
      return stepText(event);
    case 'action-output':
      return event.line;
    case 'rollout':
      pace.see(event.progress, event.elapsedMs);
      return rolloutLines(event.progress, event.elapsedMs, room, pace).join('\n');
    case 'progress':
      return progressText(event);
    case 'note':
      return plainText(event.text);
    default:
      return undefined;
  }
}
