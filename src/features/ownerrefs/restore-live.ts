import { apiVersionOf, type Kind, type KubeObject } from '../../kernel/object.ts';
import { entryKey, type JournalEntry, kindOf, type LiveReferences } from '../../kernel/owner-journal.ts';
import { ApiFailure, type ClusterReader } from '../../kernel/ports.ts';
import { appliedOwnerUids } from '../../kube/applied-owners.ts';
import { attempt, eachOf } from '../survey/index.ts';
import { kindText } from './survey.ts';
import type { UnreadKind } from './undiscovered.ts';

/** More objects of one kind than this are found in one list instead of one by one. */
const BY_NAME = 40;

/** A recorded object as it is now. */
export interface LiveObject extends LiveReferences {
  /** The one that is served now: what was recorded may have been dropped since. */
  readonly apiVersion: string;
  /** RFC 3339; the v3 API shows when its object was made, however often that was stored again. */
  readonly madeAt?: string;
}

export interface LiveObjects {
  /** By `entryKey`; what is not in it no longer exists, or is in `mute`. */
  readonly found: ReadonlyMap<string, LiveObject>;
  /** `entryKey` of objects of the v3 API that are stored under their old names, and do not answer to their own. */
  readonly mute?: ReadonlySet<string>;
  readonly unread: readonly UnreadKind[];
}

type Reader = Pick<ClusterReader, 'discover' | 'get' | 'list'>;

/** The recorded objects as they are now, as far as references are concerned. */
export async function readLive(cluster: Reader, entries: readonly JournalEntry[]): Promise<LiveObjects> {
  const { kinds } = entries.length === 0 ? { kinds: [] } : await cluster.discover();
  const groups = Map.groupBy(entries, (entry) => kindText(kindOf(entry)));
  const parts = await eachOf([...groups], 4, async ([text, mine]) => {
    const [first] = mine;
    // The version that was listed then need not be served any more.
    const kind = first && kinds.find((one) => kindText(one) === text);
    if (!kind) return { unread: [{ kind: text, because: 'the server does not serve it' }], found: [] };
    const reading = await attempt(() => readOfKind(cluster, kind, mine));
    return 'unread' in reading ? { unread: [{ kind: text, because: reading.unread }], found: [] } : { unread: [], found: reading.value };
  });
  return { found: new Map(parts.flatMap(({ found }) => found)), unread: parts.flatMap(({ unread }) => unread) };
}

type Pair = readonly [key: string, live: LiveObject];

async function readOfKind(cluster: Reader, kind: Kind, entries: readonly JournalEntry[]): Promise<readonly Pair[]> {
  if (entries.length > BY_NAME) return listedOfKind(cluster, kind, entries);
  try {
    return await namedOfKind(cluster, kind, entries);
  } catch (thrown) {
    // The role that searches may list all kinds but get none, so it can list again what it found.
    if (!(thrown instanceof ApiFailure) || thrown.status !== 403) throw thrown;
    return listedOfKind(cluster, kind, entries);
  }
}

async function namedOfKind(cluster: Reader, kind: Kind, entries: readonly JournalEntry[]): Promise<readonly Pair[]> {
  const found = await eachOf(entries, 8, async (entry) => {
    const object = await cluster.get(kind, entry.object.name, entry.object.namespace);
    return object ? [[entryKey(entry), liveOf(object, kind)] as const] : [];
  });
  return found.flat();
}

async function listedOfKind(cluster: Reader, kind: Kind, entries: readonly JournalEntry[]): Promise<readonly Pair[]> {
  const listed = await cluster.list(kind, { metadataOnly: true, keep: lean });
  const byName = new Map(listed.map((object) => [placeOf(object.metadata), object]));
  return entries.flatMap((entry): readonly Pair[] => {
    const object = byName.get(placeOf(entry.object));
    return object ? [[entryKey(entry), liveOf(object, kind)]] : [];
  });
}

function placeOf({ namespace = '', name }: { readonly namespace?: string | undefined; readonly name: string }): string {
  return `${namespace}/${name}`;
}

export function liveOf({ metadata }: KubeObject, kind: Kind): LiveObject {
  const { uid = '', ownerReferences = [], creationTimestamp } = metadata;
  const madeAt = creationTimestamp ? { madeAt: creationTimestamp } : {};
  return { apiVersion: apiVersionOf(kind), uid, references: ownerReferences, appliedOwners: appliedOwnerUids(metadata), ...madeAt };
}

function lean({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp, ownerReferences, annotations } = metadata;
  const isNeeded = appliedOwnerUids(metadata).length > 0;
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace ? { namespace } : {}),
      ...(uid ? { uid } : {}),
      ...(resourceVersion ? { resourceVersion } : {}),
      ...(creationTimestamp ? { creationTimestamp } : {}),
      ...(ownerReferences ? { ownerReferences } : {}),
      ...(annotations && isNeeded ? { annotations } : {}),
    },
  };
}
