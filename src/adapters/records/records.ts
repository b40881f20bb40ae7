import { type KeptLine, RECORD_NAME, type Records, type RunRecord } from '../../kernel/run-record.ts';
import type { Content } from '../state/entry.ts';
import type { Ledger } from '../state/ledger.ts';
import { contentOfPart, joined, keptLog, logName, logNumber, logParts, partOf, partWith, readLog } from './log.ts';
import { parseRecord } from './parse-record.ts';

const RECORD_KEY = 'record.json';

/** The record alone: only to be looked at. */
export async function recordIn(ledger: Ledger): Promise<RunRecord | undefined> {
  const text = recordText((await ledger.read(RECORD_NAME))?.content);
  return text === undefined ? undefined : parseRecord(text, ledger.whereIs(RECORD_NAME));
}

/** Tells that no run has written yet: a lease that is gone beside a record may be that of a run at work. Undefined where it cannot be told. */
export async function recordStateIn(ledger: Ledger): Promise<string | undefined> {
  return ledger.read(RECORD_NAME).then(
    (entry) => (entry ? undefined : 'none'),
    () => undefined,
  );
}

/**
 * The run record in the Secret `netsvc-upgrade-run`, and all that is kept in the log, `netsvc-upgrade-run-log-N`. The record's own Secret has one
 * part of the log, which is read last: `wait` may read that one Secret, and list none.
 */
export function ledgerRecords(ledger: Ledger): Records {
  const where = ledger.whereIs(RECORD_NAME);

  const log = keptLog({
    last: async () => Math.max(0, ...(await ledger.names()).map(logNumber)),
    async update(number, change) {
      await ledger.update(logName(number), async (live) => {
        const part = await change(partOf(live));
        return part && contentOfPart(part);
      });
    },
  });

  async function besideRecord(): Promise<readonly KeptLine[]> {
    const part = partOf((await ledger.read(RECORD_NAME))?.content);
    return part ? readLog(new Map([[1, part]]), () => where) : [];
  }

  async function storeBeside(lines: readonly KeptLine[]): Promise<boolean> {
    const part = await partWith(lines);
    if (part) await ledger.update(RECORD_NAME, (live) => ({ ...live, ...contentOfPart(part) }));
    return part !== undefined;
  }

  async function allLines(): Promise<readonly KeptLine[]> {
    // What is moved meanwhile is in the log before it goes from here.
    const beside = await besideRecord();
    const parts = await logParts(await ledger.names(), ledger.read);
    return [...(await readLog(parts, (number) => ledger.whereIs(logName(number)))), ...beside];
  }

  return {
    load: () => recordIn(ledger),
    save: (record) => ledger.update(RECORD_NAME, (live) => withRecord(live, record, where)),
    append: log.append,
    async keep(id, content) {
      const line = { id, content: content ?? null };
      const beside = await besideRecord();
      if (await storeBeside([...beside.filter((one) => one.id !== id), line])) return;
      // In the log first, then no longer here: a crash in between leaves too much, never too little.
      if (beside.length > 0) await log.append(beside);
      if (await storeBeside([line])) return;
      // What it replaces must not be found here once the new one is in the log.
      await storeBeside([]);
      await log.append([line]);
    },
    async kept(id) {
      const isIt = (one: KeptLine) => one.id === id && 'content' in one;
      return ((await besideRecord()).findLast(isIt) ?? (await allLines()).findLast(isIt))?.content;
    },
    keptWith: async (part) => joined(await allLines(), part),
  };
}

function withRecord(live: Content | undefined, record: RunRecord, where: string): Content {
  const before = recordText(live);
  // A record of a newer layout is refused here too: it must not be overwritten.
  if (before !== undefined) parseRecord(before, where);
  return { ...live, [RECORD_KEY]: Buffer.from(JSON.stringify(record, undefined, 1)).toString('base64') };
}

function recordText(content: Content | undefined): string | undefined {
  const text = content?.[RECORD_KEY];
  return text === undefined ? undefined : Buffer.from(text, 'base64').toString('utf8');
}
