import { K } from '../../core/kinds.ts';
import type { KubeObject } from '../../core/object.ts';
import { ApiFailure, type Cluster, type Records } from '../../core/ports.ts';
import type { RunRecord } from '../../core/run-record.ts';
import { type Binary, isPieceOf, packed, sizeOf, unpacked, unpackedWith } from './kept.ts';
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

type Change = (map: KubeObject) => KubeObject;

/** The run record in ConfigMap `netsvc-upgrade-run`; what it has no room for goes to `netsvc-upgrade-run-kept-N`. */
export function configMapRecords({ cluster, namespace }: RecordsDeps): Records {
  /** ConfigMaps as this process wrote them last: nobody else writes them while it holds the lock. */
  const written = new Map<string, KubeObject>();
  const get = (name: string) => cluster.get(K.ConfigMap, name, namespace);

  /** Changes and writes a ConfigMap as it was left, else as it is read now; again if somebody wrote in between. */
  async function update(name: string, change: Change): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const live = written.get(name) ?? (await get(name));
      const wanted = change(live ?? emptyMap(name, namespace));
      try {
        written.set(name, await (live ? cluster.replace(K.ConfigMap, wanted) : cluster.create(K.ConfigMap, wanted)));
        return;
      } catch (thrown) {
        const isKnown = written.delete(name);
        const isOutdated = thrown instanceof ApiFailure && (thrown.status === 409 || (thrown.status === 404 && isKnown));
        if (!isOutdated || attempt >= TRIES) throw thrown;
      }
    }
  }

  async function everyMap(): Promise<readonly KubeObject[]> {
    const [listed, main] = await Promise.all([
      cluster.list(K.ConfigMap, { namespace, labelSelector: `${OWNED}=netsvc-upgrade` }),
      get(RECORD_NAME),
    ]);
    const spilled = listed.filter(({ metadata }) => /^netsvc-upgrade-run-kept-\d+$/.test(metadata.name));
    return main ? [main, ...spilled] : spilled;
  }

  return {
    async load() {
      const text = recordText(await get(RECORD_NAME));
      return text === undefined ? undefined : parseRecord(text, `ConfigMap/${namespace}/${RECORD_NAME}`);
    },
    async save(record) {
      await update(RECORD_NAME, (map) => withRecord(map, record, namespace));
    },
    async keep(actionId, content) {
      const pieces = await packed(actionId, content);
      const maps = await everyMap();
      const old = maps.filter((map) => Object.keys(binaryOf(map)).some((key) => isPieceOf(actionId, key)));
      const placed = place(pieces, maps);
      // New pieces first, then the old ones away: a crash in between leaves too much, never too little.
      for (const [name, part] of placed) await update(name, (map) => withBinary(map, { ...without(actionId, map), ...part }));
      for (const map of old.filter(({ metadata }) => !placed.has(metadata.name)))
        await update(map.metadata.name, (live) => withBinary(live, without(actionId, live)));
    },
    async kept(actionId) {
      const maps = await everyMap();
      return unpacked(actionId, Object.assign({}, ...maps.map(binaryOf)) as Binary);
    },
    async keptWith(part) {
      const maps = await everyMap();
      return unpackedWith(part, Object.assign({}, ...maps.map(binaryOf)) as Binary);
    },
  };
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
