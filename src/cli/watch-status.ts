import { agoText } from '../kernel/counted.ts';
import type { LockHolder } from '../kernel/ports.ts';
import { type RunRecord, recordHere, toldRecord } from '../kernel/run-record.ts';
import { whoText } from '../report/head-line.ts';
import { stateText } from '../report/table.ts';
import type { Session } from './session.ts';

/** Between two looks at the record. */
const LOOK_MS = 2_000;

/** `status --watch`: a line for every stage that begins or ends, until nobody holds the lock. Ctrl-C ends the watching, not the run. */
export async function watchRun(session: Session): Promise<void> {
  const { records, lock, clock } = session.composition;
  const { soft } = session.interrupts;
  const said = new Set<string>();
  while (!soft.aborted) {
    // A run notes its end before it gives the lock back.
    const holder = await lock.holder();
    const record = toldRecord(recordHere(await records.load(), session.context), holder !== undefined);
    if (!holder && said.size === 0) return session.say('no run is at work: nobody holds the lock');
    for (const [what, line] of linesOf(record, holder, clock.now())) {
      if (!said.has(what)) session.say(line);
      said.add(what);
    }
    if (!holder) return;
    await clock.sleep(LOOK_MS, soft).catch(() => undefined);
  }
}

/** What is said once, and its words in the moment when it is. */
function linesOf(
  record: RunRecord | undefined,
  holder: LockHolder | undefined,
  now: Date,
): readonly (readonly [what: string, line: string])[] {
  const stages = record?.stages ?? [];
  return [
    ...(holder ? [[holder.identity, `${whoText(holder.identity)} began ${agoText(holder.acquiredAt, now)}`] as const] : []),
    ...stages.map(({ id, state, startedAt, endedAt, because, undo, manual }) => {
      const at = endedAt ?? startedAt;
      const when = `${endedAt === undefined ? 'began ' : ''}${agoText(at, now)}`;
      return [
        `${id} ${state} ${at}`,
        `${id}: ${stateText({ state, undo, manual })}, ${when}${because === undefined ? '' : `: ${because}`}`,
      ] as const;
    }),
  ];
}
