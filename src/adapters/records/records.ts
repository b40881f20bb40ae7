import { type KeptLine, RECORD_NAME, type Records, type RunRecord } from '../../kernel/run-record.ts';
import type { Content, Entry } from '../state/entry.ts';
import type { Ledger } from '../state/ledger.ts';
import { isPieceOf, keyOf, packed, parseRecord, sizeOf, unpacked, unpackedWith } from './kept.ts';
import { contentOfPart, joined, keptLog, LINE_BYTES, logName, logNumber, logParts, partOf, readLog } from './log.ts';

const RECORD_KEY = 'record.json';
const SPILLED = /^netsvc-upgrade-run-kept-\d+$/;
/** Room for kept items in one Secret (its limit is 1 MiB, the record itself included). Bytes. */
const ROOM_BYTES = 900_000;

/** The record alone: only to be looked at. */
export async function recordIn(ledger: Ledger): Promise<RunRecord | undefined> {
  const text = recordText((await ledger.read(RECORD_NAME))?.content);
  return text === undefined ? undefined : parseRecord(text, ledger.whereIs(RECORD_NAME));
}

/**
 * The run record in the Secret `netsvc-upgrade-run`, its overflow in `netsvc-upgrade-run-kept-N`. What single actions keep, up to one item
 * per node, is in `netsvc-upgrade-run-log-N`.
 */
export function ledgerRecords(ledger: Ledger): Records {
  const where = ledger.whereIs(RECORD_NAME);

  /** The record's own Secret and those that hold what it has no room for. */
  async function withItems(names: readonly string[]): Promise<readonly Entry[]> {
    const found = await Promise.all([RECORD_NAME, ...names.filter((name) => SPILLED.test(name))].map((name) => ledger.read(name)));
    return found.filter((one) => one !== undefined);
  }

  async function keep(actionId: string, content: unknown): Promise<void> {
    const pieces = await packed(actionId, content);
    const entries = await withItems(await ledger.names());
    const old = entries.filter((one) => Object.keys(one.content).some((key) => isPieceOf(actionId, key)));
    const placed = place(pieces, entries);
    // New pieces first, then the old ones are removed: a crash in between leaves too much, never too little.
    for (const [name, part] of placed) await ledger.update(name, (live) => ({ ...without(actionId, live), ...part }));
    for (const { name } of old.filter((one) => !placed.has(one.name))) await ledger.update(name, (live) => without(actionId, live));
  }

  const log = keptLog({
    last: async () => Math.max(0, ...(await ledger.names()).map(logNumber)),
    async update(number, change) {
      await ledger.update(logName(number), async (live) => {
        const part = await change(partOf(live));
        return part && contentOfPart(part);
      });
    },
  });

  return {
    load: () => recordIn(ledger),
    save: (record) => ledger.update(RECORD_NAME, (live) => withRecord(live, record, where)),
    keep,
    async append(lines) {
      const [small = [], large = []] = [false, true].map((isLarge) => lines.filter((line) => isTooLarge(line) === isLarge));
      for (const { id, content } of large) await keep(id, content);
      if (small.length === 0) return;
      await log.append(small);
    },
    async kept(actionId) {
      // An item of usual size stands beside the record: `wait` may read that one Secret, and list none.
      const own = (await ledger.read(RECORD_NAME))?.content;
      if (own !== undefined && keyOf(actionId) in own) return unpacked(actionId, own);
      return unpacked(actionId, itemsOf(await withItems(await ledger.names())));
    },
    async keptWith(part) {
      const names = await ledger.names();
      const items = itemsOf(await withItems(names));
      const lines = await readLog(await logParts(names, ledger.read), (number) => ledger.whereIs(logName(number)));
      return joined(await unpackedWith(part, items), lines, part);
    },
  };
}

function isTooLarge({ content }: KeptLine): boolean {
  return content !== undefined && Buffer.byteLength(JSON.stringify(content)) > LINE_BYTES;
}

/** Which Secret takes which pieces: the first with room, else a new one. */
function place(pieces: Content, entries: readonly Entry[]): ReadonlyMap<string, Content> {
  const used = new Map([[RECORD_NAME, 0], ...entries.map(({ name, content }): [string, number] => [name, sizeOf(content)])]);
  const placed = new Map<string, Content>();
  for (const [key, value] of Object.entries(pieces)) {
    const size = sizeOf({ [key]: value });
    const roomy = [...used].find(([, bytes]) => bytes + size <= ROOM_BYTES)?.[0];
    const name = roomy ?? firstFree(used);
    used.set(name, (used.get(name) ?? 0) + size);
    placed.set(name, { ...placed.get(name), [key]: value });
  }
  return placed;
}

function firstFree(used: ReadonlyMap<string, number>): string {
  for (let number = 1; ; number += 1) if (!used.has(`${RECORD_NAME}-kept-${number}`)) return `${RECORD_NAME}-kept-${number}`;
}

function withRecord(live: Content | undefined, record: RunRecord, where: string): Content {
  const before = recordText(live);
  // A record of a newer layout is refused here too: it must not be overwritten.
  if (before !== undefined) parseRecord(before, where);
  return { ...live, [RECORD_KEY]: Buffer.from(JSON.stringify(record, undefined, 1)).toString('base64') };
}

function without(actionId: string, live: Content | undefined): Content {
  return Object.fromEntries(Object.entries(live ?? {}).filter(([key]) => !isPieceOf(actionId, key)));
}

function itemsOf(entries: readonly Entry[]): Content {
  return Object.assign({}, ...entries.map(({ content }) => content)) as Content;
}

function recordText(content: Content | undefined): string | undefined {
  const text = content?.[RECORD_KEY];
  return text === undefined ? undefined : Buffer.from(text, 'base64').toString('utf8');
}
