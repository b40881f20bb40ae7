import { counted, elapsedText, timeText } from '../kernel/counted.ts';
import type { EngineEvent } from '../kernel/event.ts';
import type { RolloutProgress } from '../kernel/rollout.ts';
import { indented } from '../kernel/visible.ts';
import { type Progress, type ProgressOptions, progressText, stepText } from './progress-text.ts';
import { leftText, RolloutPace, rolloutChanges, rolloutSummary } from './rollout-view.ts';

/** The renderer that fits; the tree's library is loaded only when it is needed. */
export async function startProgress(options: ProgressOptions): Promise<Progress> {
  if (options.mode === 'silent') return warningsOnly(options);
  if (options.mode === 'lines') return lineProgress(options);
  const { treeProgress } = await import('./progress-tree.ts');
  return treeProgress(options);
}

/** What the user must know is said whatever else is left out: the engine tells it here and nowhere else. */
function warningsOnly({ write, palette }: Pick<ProgressOptions, 'write' | 'palette'>): Progress {
  return {
    observe: (event) => {
      if (event.type === 'note' && event.level === 'warning') write(`${palette.warn(indented(`Warning: ${event.text}`))}\n`);
    },
    close: async () => undefined,
  };
}

/** A log that says nothing for this long looks dead. */
const HEARTBEAT_MS = 15_000;

/** Milliseconds after which a plan says what it looks at; a faster one says nothing. */
const ANNOUNCE_MS = 1_000;

/** Nothing has been seen yet. */
const begun = () => ({
  quiet: true,
  announced: false,
  stage: '',
  current: undefined as string | undefined,
  rollout: [] as readonly RolloutProgress[],
  summary: '',
  pace: new RolloutPace(),
  /** Steps of the stage that wait for the user. */
  manual: 0,
  /** The stage is not done before some of them are. */
  awaited: false,
});

type State = ReturnType<typeof begun>;

/** One line per change, and a heartbeat while nothing changes; never repaints. */
function lineProgress(options: Pick<ProgressOptions, 'write' | 'every' | 'palette' | 'phase'>): Progress {
  const state = begun();
  const say = (line: string) => {
    state.quiet = false;
    options.write(`${indented(line)}\n`);
  };
  const stop = options.every(HEARTBEAT_MS, () => {
    if (state.quiet && state.current !== undefined) options.write(`still: ${state.current}${state.summary ? ` (${state.summary})` : ''}\n`);
    state.quiet = true;
  });
  const announce = () => {
    if (!state.announced && state.current !== undefined) say(`planning: ${state.stage}: ${state.current}`);
    state.announced = true;
  };
  const stopAnnouncing = options.phase === 'plan' ? options.every(ANNOUNCE_MS, announce) : () => undefined;
  return {
    observe: (event) => {
      follow(event, state);
      for (const line of linesOf(event, state, options)) say(line);
      if (event.type === 'rollout') state.rollout = event.progress;
    },
    close: async () => {
      stop();
      stopAnnouncing();
    },
  };
}

function follow(event: EngineEvent, state: State): void {
  if (event.type === 'stage-started')
    Object.assign(state, { stage: event.stage, current: event.title, announced: false, manual: 0, awaited: false });
  if (event.type === 'action-started')
    Object.assign(state, { current: event.action.title, rollout: [], summary: '', pace: new RolloutPace() });
  if (event.type === 'action-done' && event.action.effect.type === 'ask') {
    state.manual += 1;
    state.awaited ||= event.action.effect.awaited === true;
  }
  if (event.type === 'rollout') state.summary = rolloutText(event.progress, event.elapsedMs, state.pace);
  if (event.type === 'progress') state.summary = progressText(event);
  if (['stage-done', 'stage-skipped', 'action-done', 'action-failed'].includes(event.type)) state.summary = '';
}

function rolloutText(progress: readonly RolloutProgress[], elapsedMs: number, pace: RolloutPace): string {
  pace.see(progress, elapsedMs);
  const texts = progress.map((one) => {
    const left = pace.leftMs(one, elapsedMs);
    return left === undefined ? rolloutSummary(one) : `${rolloutSummary(one)} · ${leftText(left)}`;
  });
  return `${texts.join('; ')}, ${elapsedText(elapsedMs)}`;
}

/** A stage is not done while it waits for the user. */
function ended({ manual, awaited }: State): string {
  return !awaited ? 'done in' : `${counted(manual, 'manual step')} left, after`;
}

function linesOf(event: EngineEvent, state: State, { palette, phase }: Pick<ProgressOptions, 'palette' | 'phase'>): readonly string[] {
  switch (event.type) {
    case 'stage-started':
      return phase === 'plan' ? [] : [palette.strong(`${event.stage}: ${event.title}`)];
    case 'stage-skipped':
      return [`${event.stage}: nothing to do: ${event.because}`];
    case 'stage-done':
      return [`${event.stage}: ${ended(state)} ${timeText(event.durationMs)}`];
    case 'action-started':
      return [`${event.stage}: ${stepText(event)}`];
    case 'action-output':
      return [`${event.stage}:   ${event.line}`];
    case 'action-done':
      // What only repeats the line above says nothing.
      return event.detail && !event.action.title.includes(event.detail) ? [`${event.stage}:   ${event.detail}`] : [];
    case 'action-failed':
      return [event.interrupted ? `${event.stage}: ${event.message}` : palette.bad(`${event.stage}: failed: ${event.message}`)];
    case 'rollout':
      return rolloutChanges(state.rollout, event.progress).map((line) => `${event.stage}:   ${line}`);
    case 'note':
      return [event.level === 'warning' ? palette.warn(`Warning: ${event.text}`) : `${event.stage}: ${event.text}`];
    case 'planned':
      return phase === 'plan' && state.announced && event.durationMs !== undefined && event.durationMs >= ANNOUNCE_MS
        ? [`planning: ${event.stage}: took ${timeText(event.durationMs)}`]
        : [];
    case 'progress':
    case 'judged':
      return [];
  }
}
