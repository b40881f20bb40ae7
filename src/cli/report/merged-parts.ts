import type { RunHistory } from '../../kernel/run-history.ts';
import type { StageRecord } from '../../kernel/run-record.ts';

/** One row per stage of a run that was resumed: when it began first, how it ended last. */
export function mergedStages(all: readonly StageRecord[]): readonly StageRecord[] {
  return [...new Set(all.map(({ id }) => id))].flatMap((id) => {
    const rows = all.filter((one) => one.id === id);
    const ran = rows.filter(({ state }) => state !== 'skipped');
    const [first, lastRan, last] = [ran[0], ran.at(-1), rows.at(-1)];
    if (!last) return [];
    if (!first || !lastRan) return [last];
    // A later part that found nothing left to do says that it was done meanwhile.
    if (last.state !== 'skipped' || lastRan.state === 'done') return [{ ...lastRan, startedAt: first.startedAt }];
    return [{ ...last, state: 'done', startedAt: first.startedAt } as const];
  });
}

/** What happened in all parts of a run: what a later part did again, or said again, stands once. */
export function mergedHistory(all: readonly RunHistory[]): RunHistory | undefined {
  const [first, last] = [all[0], all.at(-1)];
  if (!first || !last) return undefined;
  const actions = all.flatMap((one) => one.actions);
  const notes = all.flatMap((one) => one.notes);
  const isOver = ({ outcome }: RunHistory['actions'][number]) => outcome === 'done' || outcome === 'failed';
  return {
    ...{ startedAt: first.startedAt, endedAt: last.endedAt },
    actions: actions.filter((one, at) => isOver(one) || !actions.some((other, index) => index > at && isSame(other, one))),
    rollouts: all.flatMap((one) => one.rollouts),
    notes: notes.filter(({ stage, text }, at) => notes.findIndex((other) => other.stage === stage && other.text === text) === at),
  };
}

function isSame(one: RunHistory['actions'][number], other: RunHistory['actions'][number]): boolean {
  return one.stage === other.stage && one.id === other.id;
}
