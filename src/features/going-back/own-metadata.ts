import type { GuardedPatch } from '../../kernel/action.ts';
import { mapAt, parsedJson, pointerTo } from '../../kernel/json.ts';
import type { JsonPatchOp, KubeObject } from '../../kernel/object.ts';
import { patchOf } from '../../kernel/object-change.ts';
import type { Profile } from '../../kernel/profile.ts';
import { isOlder } from '../../kernel/release.ts';
import { LAST_APPLIED } from '../../kube/managed-fields.ts';
import { isLabelKey, isLabelValue } from '../policy-rules/index.ts';

type Texts = Readonly<Record<string, string>>;

/** What a stored object lacks of what its annotation says, for a reader that knows the object's own metadata alone. */
export interface Hidden {
  readonly labels: Texts;
  readonly annotations: Texts;
  /** Labels with another value on the object: newer readers go by the annotation's. */
  readonly other: readonly { readonly key: string; readonly now: string; readonly wanted: string }[];
  /** Labels that Kubernetes refuses: only who wrote the annotation directly can have put them there. */
  readonly invalid: readonly string[];
  /** Kubernetes allows no more annotations: labels alone can be put there. */
  readonly tooLarge: boolean;
}

/** A stored object, and what of its metadata old readers do not see. */
export interface HiddenIn {
  readonly object: KubeObject;
  /** `networksets.crd.projectcalico.org` */
  readonly resource: string;
  readonly hidden: Hidden;
}

/** True if releases as old as this one read an object's own labels and annotations alone. */
export function readsOwnMetadata(release: string, { olderReaders }: Pick<Profile, 'olderReaders'>): boolean {
  return olderReaders !== undefined && isOlder(release, olderReaders.ownMetadataBefore);
}

/** All annotations of an object together, in bytes. */
const MOST_BYTES = 256 * 1024;

/** Undefined where nothing is hidden. */
export function hiddenIn({ metadata }: KubeObject, apiGroup: string): Hidden | undefined {
  const own = metadata.annotations ?? {};
  const noted = mapAt(parsedJson(own[`${apiGroup}/metadata`] ?? '{}'));
  const wanted = textsIn(noted.labels);
  const isValid = ([key, value]: readonly [string, string]) => isLabelKey(key) && isLabelValue(value);
  const labels = differing(Object.fromEntries(Object.entries(wanted).filter(isValid)), metadata.labels ?? {});
  // Whoever applies the stored object itself has noted it there.
  const isKept = (key: string) => key === `${apiGroup}/metadata` || (key === LAST_APPLIED && own[key] !== undefined);
  const missing = differing(textsIn(noted.annotations), own);
  // One with another key can only have been written into the note directly, and no server would take it.
  const annotations = Object.fromEntries(Object.entries(missing).filter(([key]) => isLabelKey(key.toLowerCase()) && !isKept(key)));
  const tooLarge = bytesOf({ ...own, ...annotations }) > MOST_BYTES;
  const other = Object.entries(labels).flatMap(([key, value]) => {
    const now = metadata.labels?.[key];
    return now === undefined ? [] : [{ key, now, wanted: value }];
  });
  const invalid = Object.entries(wanted).flatMap((pair) => (isValid(pair) ? [] : [`${pair[0]}=${pair[1]}`]));
  const found = { labels, annotations: tooLarge ? {} : annotations, other, invalid, tooLarge };
  return Object.keys({ ...labels, ...annotations }).length + invalid.length > 0 ? found : undefined;
}

/** The object as it is once nothing is hidden. */
export function withOwnMetadata(object: KubeObject, apiGroup: string): KubeObject {
  const hidden = hiddenIn(object, apiGroup);
  if (!hidden) return object;
  const { labels, annotations } = object.metadata;
  return {
    ...object,
    metadata: {
      ...object.metadata,
      ...mapWith('labels', labels, hidden.labels),
      ...mapWith('annotations', annotations, hidden.annotations),
    },
  };
}

/** Undefined where there is nothing to put there. */
export function ownMetadataPatch(object: KubeObject, { labels, annotations }: Hidden): GuardedPatch | undefined {
  const ops = [...putOps('labels', object.metadata.labels, labels), ...putOps('annotations', object.metadata.annotations, annotations)];
  return ops.length === 0 ? undefined : patchOf(object, ops);
}

function putOps(map: 'labels' | 'annotations', now: Texts | undefined, wanted: Texts): readonly JsonPatchOp[] {
  const pairs = Object.entries(wanted);
  if (pairs.length === 0) return [];
  if (now === undefined) return [{ op: 'add', path: `/metadata/${map}`, value: wanted }];
  return pairs.map(([key, value]) => ({ op: key in now ? 'replace' : 'add', path: pointerTo('metadata', map, key), value }));
}

function mapWith(name: 'labels' | 'annotations', now: Texts = {}, more: Texts = {}) {
  const all = { ...now, ...more };
  return Object.keys(all).length === 0 ? {} : { [name]: all };
}

const differing = (wanted: Texts, there: Texts): Texts =>
  Object.fromEntries(Object.entries(wanted).filter(([key, value]) => there[key] !== value));

function textsIn(map: unknown): Texts {
  return Object.fromEntries(Object.entries(mapAt(map)).filter((pair): pair is [string, string] => typeof pair[1] === 'string'));
}

function bytesOf(texts: Texts): number {
  return Object.entries(texts).reduce((sum, pair) => sum + Buffer.byteLength(pair.join('')), 0);
}
