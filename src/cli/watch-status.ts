import type { LockHolder } from '../kernel/ports.ts';
import type { RunRecord } from '../kernel/run-record.ts';
import type { Session } from './session.ts';

/** Between two looks at the record. */
const LOOK_MS = 2_000;

/** `status --watch`: a line for every stage that begins or ends, until nobody holds the lock. Ctrl-C ends the watching, not the run. */
export async function watchRun(session: Session): Promise<void> {
  const { records, lock, clock } = session.composition;
  const { soft } = session.interrupts;
  const said = new Set<string>();
  while (!soft.aborted) {
    const [record, holder] = [await records.load(), await lock.holder()];
    for (const line of linesOf(record, holder)) {
      if (!said.has(line)) session.say(line);
      said.add(line);
    }
    if (!holder) return;
    await clock.sleep(LOOK_MS, soft).catch(() => undefined);
  }
}

function linesOf(record: RunRecord | undefined, holder: LockHolder | undefined): readonly string[] {
  const stages = record?.stages ?? [];
  return [
    ...(holder ? [`${holder.identity} is at work since ${holder.acquiredAt}`] : []),
    ...stages.map(({ id, state, startedAt, endedAt, because }) => {
      const why = because === undefined ? '' : `: ${because}`;
      return `${endedAt ?? startedAt} ${id} ${state}${why}`;
    }),
  ];
}
