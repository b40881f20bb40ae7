import { K } from '../../core/kinds.ts';
import type { KubeObject } from '../../core/object.ts';
import { ApiFailure, type Cluster, type KeptLine, type Records } from '../../core/ports.ts';
import type { RunRecord } from '../../core/run-record.ts';
import { type Binary, isPieceOf, packed, sizeOf, unpacked, unpackedWith } from './kept.ts';
import { joined, keptLog, LINE_BYTES, readLog } from './log.ts';
import { logName, logNumber, logParts, partOf, withPart } from './log-maps.ts';
import { parseRecord } from './shape.ts';

export const RECORD_NAME = 'netsvc-upgrade-run';
const OWNED = 'app.kubernetes.io/managed-by';
const LABELS = { [OWNED]: 'netsvc-upgrade', 'app.kubernetes.io/name': RECORD_NAME };
/** Room for kept items in one ConfigMap (its limit is 1 MiB, the record itself included). Bytes. */
const ROOM_BYTES = 900_000;
const TRIES = 5;

export interface RecordsDeps {
  readonly cluster: Cluster;
  /** Namespace of the ConfigMaps: where the lock is too. */
  readonly namespace: string;
}

/** Undefined: it stays as it is. */
type Change = (map: KubeObject) => KubeObject | undefined | Promise<KubeObject | undefined>;

/**
 * The run record in ConfigMap `netsvc-upgrade-run`; what it has no room for goes to `netsvc-upgrade-run-kept-N`, and what single actions keep, of
 * which there may be as many as nodes, to `netsvc-upgrade-run-log-N`.
 */
export function configMapRecords({ cluster, namespace }: RecordsDeps): Records {
  /** ConfigMaps as this process wrote them last: nobody else writes them while it holds the lock. */
  const written = new Map<string, KubeObject>();
  const get = (name: string) => cluster.get(K.ConfigMap, name, namespace);

  /** Changes and writes a ConfigMap as it was left, else as it is read now; again if somebody wrote in between. */
  async function update(name: string, change: Change): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const live = written.get(name) ?? (await get(name));
      const wanted = await change(live ?? emptyMap(name, namespace));
      if (!wanted) return;
      try {
        written.set(name, await (live ? cluster.replace(K.ConfigMap, wanted) : cluster.create(K.ConfigMap, wanted)));
        return;
      } catch (thrown) {
        if (!isOutdated(thrown, written.delete(name)) || attempt >= TRIES) throw thrown;
      }
    }
  }

  const listed = (metadataOnly: boolean) =>
    cluster.list(K.ConfigMap, { namespace, labelSelector: `${OWNED}=netsvc-upgrade`, ...(metadataOnly ? { metadataOnly } : {}) });

  async function withMain(maps: readonly KubeObject[]): Promise<readonly KubeObject[]> {
    const spilled = maps.filter(({ metadata }) => /^netsvc-upgrade-run-kept-\d+$/.test(metadata.name));
    const main = await get(RECORD_NAME);
    return main ? [main, ...spilled] : spilled;
  }

  async function keep(actionId: string, content: unknown): Promise<void> {
    const pieces = await packed(actionId, content);
    const maps = await withMain(await listed(false));
    const old = maps.filter((map) => Object.keys(binaryOf(map)).some((key) => isPieceOf(actionId, key)));
    const placed = place(pieces, maps);
    // New pieces first, then the old ones away: a crash in between leaves too much, never too little.
    for (const [name, part] of placed) await update(name, (map) => withBinary(map, { ...without(actionId, map), ...part }));
    for (const map of old.filter(({ metadata }) => !placed.has(metadata.name)))
      await update(map.metadata.name, (live) => withBinary(live, without(actionId, live)));
  }

  const log = keptLog({
    last: async () => Math.max(0, ...(await listed(true)).map(logNumber)),
    async update(number, change) {
      await update(logName(number), async (map) => {
        const part = await change(partOf(map));
        return part && withPart(map, part);
      });
    },
  });

  return {
    async load() {
      const text = recordText(await get(RECORD_NAME));
      return text === undefined ? undefined : parseRecord(text, `ConfigMap/${namespace}/${RECORD_NAME}`);
    },
    async save(record) {
      await update(RECORD_NAME, (map) => withRecord(map, record, namespace));
    },
    keep,
    async append(lines) {
      const [small = [], large = []] = [false, true].map((isLarge) => lines.filter((line) => isTooLarge(line) === isLarge));
      for (const { id, content } of large) await keep(id, content);
      if (small.length > 0) await log.append(small);
    },
    async kept(actionId) {
      const maps = await withMain(await listed(false));
      return unpacked(actionId, Object.assign({}, ...maps.map(binaryOf)) as Binary);
    },
    async keptWith(part) {
      const all = await listed(false);
      const maps = await withMain(all);
      const lines = await readLog(await logParts(all, get), (number) => `${namespace}/${logName(number)}`);
      return joined(await unpackedWith(part, Object.assign({}, ...maps.map(binaryOf)) as Binary), lines, part);
    },
  };
}

/** Somebody wrote or removed it in between; `isKnown`: it was not read right before. */
function isOutdated(thrown: unknown, isKnown: boolean): boolean {
  return thrown instanceof ApiFailure && (thrown.status === 409 || (thrown.status === 404 && isKnown));
}

function isTooLarge({ content }: KeptLine): boolean {
  return content !== undefined && Buffer.byteLength(JSON.stringify(content)) > LINE_BYTES;
}

/** Which ConfigMap takes which pieces: the first with room, else a new one. */
function place(pieces: Binary, maps: readonly KubeObject[]): ReadonlyMap<string, Binary> {
  const used = new Map([[RECORD_NAME, 0], ...maps.map((map): [string, number] => [map.metadata.name, usedBytes(map)])]);
  const placed = new Map<string, Binary>();
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

function usedBytes(map: KubeObject): number {
  return sizeOf(binaryOf(map)) + Buffer.byteLength(recordText(map) ?? '');
}

function withRecord(map: KubeObject, record: RunRecord, namespace: string): KubeObject {
  const before = recordText(map);
  // A record of a newer layout is refused here too: it must not be overwritten.
  if (before !== undefined) parseRecord(before, `ConfigMap/${namespace}/${RECORD_NAME}`);
  return { ...map, data: { ...(map.data as object), 'record.json': JSON.stringify(record, undefined, 1) } };
}

function without(actionId: string, map: KubeObject): Binary {
  return Object.fromEntries(Object.entries(binaryOf(map)).filter(([key]) => !isPieceOf(actionId, key)));
}

function withBinary(map: KubeObject, binaryData: Binary): KubeObject {
  return { ...map, binaryData };
}

function binaryOf(map: KubeObject): Binary {
  return (map.binaryData ?? {}) as Binary;
}

function recordText(map: KubeObject | undefined): string | undefined {
  return (map?.data as Readonly<Record<string, string>> | undefined)?.['record.json'];
}

function emptyMap(name: string, namespace: string): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels: LABELS } };
}
