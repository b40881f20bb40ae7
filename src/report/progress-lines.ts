import { counted, elapsedText, timeText } from '../kernel/counted.ts';
import type { EngineEvent } from '../kernel/event.ts';
import type { RolloutProgress } from '../kernel/rollout.ts';
import { indented } from '../kernel/visible.ts';
import { AppliedCount } from './applied-count.ts';
import { besideText, type Progress, type ProgressOptions, probeText, progressText, stepText } from './progress-text.ts';
import { leftText, RolloutPace, rolloutChanges, rolloutSummary } from './rollout-view.ts';

type Options = Pick<ProgressOptions, 'write' | 'every' | 'palette' | 'phase' | 'now' | 'each'>;

/** A log that says nothing for this long looks dead. */
const HEARTBEAT_MS = 15_000;

/** Milliseconds after which a plan says what it looks at; a faster one says nothing. */
const ANNOUNCE_MS = 1_000;

/** Nothing has been seen yet. */
const begun = () => ({
  quiet: true,
  announced: false,
  stage: '',
  /** The stage's first line, until it has something to say. */
  heading: undefined as string | undefined,
  current: undefined as string | undefined,
  rollout: [] as readonly RolloutProgress[],
  summary: '',
  pace: new RolloutPace(),
  applied: new AppliedCount(),
  /** What the user's probe said last, and whether it failed then. */
  probe: '',
  /** What the connections have been through. */
  network: '',
  probeFailed: false,
  /** Steps of the stage that wait for the user. */
  manual: 0,
  /** The stage is not done before some of them are. */
  awaited: false,
});

type State = ReturnType<typeof begun>;

/** One line per change with the time of day (UTC), and a heartbeat while nothing changes; never repaints. */
export function lineProgress(options: Options): Progress {
  const state = begun();
  const say = (line: string) => {
    state.quiet = false;
    options.write(`${options.now().toISOString().slice(11, 19)}Z ${indented(line)}\n`);
  };
  const sayAll = (lines: readonly string[]) => {
    if (lines.length > 0 && state.heading !== undefined) say(options.palette.strong(state.heading));
    if (lines.length > 0) state.heading = undefined;
    for (const line of lines) say(line);
  };
  const stop = options.every(HEARTBEAT_MS, () => {
    if (state.quiet && state.current !== undefined) sayAll([`still: ${state.current}${aside(state)}`]);
    state.quiet = true;
  });
  const announce = () => {
    if (!state.announced && state.current !== undefined) say(`planning: ${state.stage}: ${state.current}`);
    state.announced = true;
  };
  const stopAnnouncing = options.phase === 'plan' ? options.every(ANNOUNCE_MS, announce) : () => undefined;
  return {
    observe: (event) => {
      follow(event, state, options);
      if (event.type === 'stage-skipped') say(skippedText(event, options));
      else sayAll(linesOf(event, state, options));
      if (event.type === 'rollout') state.rollout = event.progress;
      if (event.type === 'probe') Object.assign(state, { probe: probeText(event), probeFailed: event.because !== undefined });
      if (event.type === 'network') state.network = besideText(event) ?? '';
    },
    close: async () => {
      stop();
      stopAnnouncing();
    },
  };
}

function follow(event: EngineEvent, state: State, { phase, each }: Options): void {
  if (event.type === 'stage-started') {
    const { stage, title } = event;
    const heading = phase === 'plan' ? undefined : `${stage}: ${title}`;
    Object.assign(state, { stage, heading, current: title, announced: false, manual: 0, awaited: false });
  }
  if (event.type === 'stage-skipped') state.heading = undefined;
  if (event.type === 'action-started')
    Object.assign(state, { current: event.action.title, rollout: [], summary: '', pace: new RolloutPace() });
  if (event.type === 'action-done' && event.action.effect.type === 'ask') {
    state.manual += 1;
    state.awaited ||= event.action.effect.awaited === true;
  }
  if (event.type === 'action-output' && !each && state.applied.see(event)) state.summary = state.applied.text();
  if (event.type === 'rollout') state.summary = rolloutText(event.progress, event.elapsedMs, state.pace);
  if (event.type === 'progress') state.summary = progressText(event);
  if (['stage-done', 'stage-skipped', 'action-done', 'action-failed'].includes(event.type)) state.summary = '';
}

function aside({ summary, probe, network }: State): string {
  const parts = [summary, probe, network].filter((part) => part !== '');
  return parts.length === 0 ? '' : ` (${parts.join('; ')})`;
}

function rolloutText(progress: readonly RolloutProgress[], elapsedMs: number, pace: RolloutPace): string {
  pace.see(progress, elapsedMs);
  const texts = progress.map((one) => `${rolloutSummary(one)}${leftAt(pace, one, elapsedMs)}`);
  return `${texts.join('; ')}, ${elapsedText(elapsedMs)}`;
}

function leftAt(pace: RolloutPace, one: RolloutProgress, elapsedMs: number): string {
  const left = pace.leftMs(one, elapsedMs);
  return left === undefined ? '' : ` · ${leftText(left)}`;
}

/** A stage is not done while it waits for the user. */
function ended({ manual, awaited }: State): string {
  return !awaited ? 'done in' : `${counted(manual, 'manual step')} left, after`;
}

/** The reason is in the plan before and in the table at the end. */
function skippedText({ stage, because }: Extract<EngineEvent, { readonly type: 'stage-skipped' }>, { each }: Options): string {
  return `${stage}: nothing to do${each ? `: ${because}` : ''}`;
}

function linesOf(event: EngineEvent, state: State, { palette, phase, each }: Options): readonly string[] {
  switch (event.type) {
    case 'stage-done':
      return [`${event.stage}: ${ended(state)} ${timeText(event.durationMs)}`];
    case 'action-started':
      return [`${event.stage}: ${stepText(event)}`];
    case 'action-output':
      return each || !state.applied.counts(event) ? [`${event.stage}:   ${event.line}`] : [];
    case 'action-done':
      return [...appliedLines(event.stage, state), ...detailLines(event)];
    case 'action-failed':
      // Why is said by the error, and by the block at the end.
      return [
        ...appliedLines(event.stage, state),
        event.interrupted || event.held ? `${event.stage}: ${event.message}` : palette.bad(`${event.stage}: failed`),
      ];
    case 'rollout':
      return rolloutChanges(state.rollout, event.progress, (one) => leftAt(state.pace, one, event.elapsedMs)).map(
        (line) => `${event.stage}:   ${line}`,
      );
    case 'note':
      return [
        event.level === 'warning' ? palette.warn(`Warning: ${palette.said(event.text)}`) : `${event.stage}: ${palette.said(event.text)}`,
      ];
    case 'probe':
      return (event.because === undefined) === state.probeFailed ? [palette.warn(probeText(event))] : [];
    case 'network':
      return event.because === undefined ? [] : [palette.warn(`Warning: ${event.because}`)];
    case 'planned':
      return phase === 'plan' && state.announced && event.durationMs !== undefined && event.durationMs >= ANNOUNCE_MS
        ? [`planning: ${event.stage}: took ${timeText(event.durationMs)}`]
        : [];
    case 'stage-started':
    case 'stage-skipped':
    case 'progress':
    case 'judged':
      return [];
  }
}

function appliedLines(stage: string, { applied }: State): readonly string[] {
  const text = applied.take();
  return text === '' ? [] : [`${stage}:   ${text}`];
}

function detailLines({ stage, detail }: Extract<EngineEvent, { readonly type: 'action-done' }>): readonly string[] {
  return detail ? [`${stage}:   ${detail}`] : [];
}
