import { type KubeObject, objectKey } from '../../kernel/object.ts';
import { ApiFailure, type ClusterReader } from '../../kernel/ports.ts';
import { LAST_APPLIED } from '../../kube/applied-owners.ts';
import type { LiveState, MergeInput } from '../../manifest/merge-input.ts';
import { identityOf } from '../../manifest/prepare.ts';
import { eachOf } from '../survey/index.ts';

/** One object as the user has it. */
export interface OwnObject {
  /** As the manifest that was asked about has it. */
  readonly document: KubeObject;
  /** `unserved`: the server no longer has such a kind, so nothing can be told. */
  readonly state: 'present' | 'absent' | 'unserved';
  readonly live?: KubeObject;
  /** What was applied last, as kubectl noted it. */
  readonly applied?: KubeObject;
}

/** Kinds that always come from the target whole: what was changed in the cluster is not looked at. */
const NOT_COMPARED = new Set(['CustomResourceDefinition', 'ServiceAccount']);

/** Requests under way at a time. */
const WIDTH = 6;

/** The live object behind each document, once per object however many API versions name it. */
export async function readOwnObjects(cluster: ClusterReader, documents: readonly KubeObject[]): Promise<readonly OwnObject[]> {
  const once = [...new Map(documents.toReversed().map((document) => [identityOf(document), document])).values()];
  return eachOf(once, WIDTH, async (document): Promise<OwnObject> => {
    const kind = await cluster.resolve(document.apiVersion, document.kind);
    if (!kind) return { document, state: 'unserved' };
    const live = await cluster.get(kind, document.metadata.name, kind.namespaced ? (document.metadata.namespace ?? 'default') : undefined);
    if (!live) return { document, state: 'absent' };
    const applied = lastApplied(live);
    return { document, state: 'present', live, ...(applied ? { applied } : {}) };
  });
}

/** What of an object cannot be told, for want of the server's defaults. */
export interface LiveStates {
  readonly states: readonly LiveState[];
  /** Keys of objects whose changes since the last apply are not known. */
  readonly untold: ReadonlySet<string>;
}

type Defaulting = Pick<ClusterReader, 'resolve' | 'dryRunCreate'>;

/** What was changed in the cluster since the last apply; `base` has the release's own documents for objects that nobody noted. */
export async function readLiveStates(cluster: Defaulting, own: readonly OwnObject[], base: readonly KubeObject[]): Promise<LiveStates> {
  const untold = new Set<string>();
  const released = new Map(base.map((document) => [identityOf(document), document]));
  const states = await eachOf(own, WIDTH, async ({ document, live, applied }): Promise<LiveState | undefined> => {
    if (!live) return undefined;
    const before = applied ?? released.get(identityOf(document));
    if (!before) return undefined;
    const unchanged = applied ? undefined : { before: live, now: live };
    if (NOT_COMPARED.has(document.kind)) return unchanged;
    const twin = await asTheServerDefaultsIt(cluster, { ...before, apiVersion: live.apiVersion });
    if (twin) return { before: twin, now: live };
    // Nobody noted what was applied: better an edit too many than one lost silently.
    if (!applied) return { before, now: live };
    untold.add(objectKey(document));
    return undefined;
  });
  return { states: states.filter((one) => one !== undefined), untold };
}

/** What the cluster has of objects that only the user's file names, not the release: there nothing is newer than what is live. */
export async function readAdditions(
  cluster: ClusterReader,
  added: readonly KubeObject[],
): Promise<{ readonly states: readonly LiveState[]; readonly away: NonNullable<MergeInput['away']> }> {
  const own = await readOwnObjects(cluster, added);
  const states = await eachOf(own, WIDTH, async ({ document, live }): Promise<LiveState | undefined> => {
    if (!live || document.kind === 'Secret') return undefined;
    const before = { ...document, apiVersion: live.apiVersion };
    return { before: (await asTheServerDefaultsIt(cluster, before)) ?? before, now: live };
  });
  return { states: states.filter((one) => one !== undefined), away: awayOf(own) };
}

/** Those that the cluster does not have, by identity. */
export function awayOf(own: readonly OwnObject[]): NonNullable<MergeInput['away']> {
  return new Map(own.flatMap(({ document, state }) => (state === 'present' ? [] : [[identityOf(document), state] as const])));
}

/** The file that the user applied, as kubectl noted it on the object. */
function lastApplied(live: KubeObject): KubeObject | undefined {
  const text = live.metadata.annotations?.[LAST_APPLIED];
  try {
    return text === undefined ? undefined : (JSON.parse(text) as KubeObject);
  } catch {
    return undefined; // removed manually: then only the live object tells
  }
}

/** A dry-run twin under another name gets the defaults that the live object got; undefined if the server does not take one. */
async function asTheServerDefaultsIt(cluster: Defaulting, object: KubeObject): Promise<KubeObject | undefined> {
  const kind = await cluster.resolve(object.apiVersion, object.kind);
  if (!kind) return undefined;
  const twin = { ...object, metadata: { ...object.metadata, name: `${object.metadata.name.slice(0, 40)}-netsvc-upgrade-twin` } };
  try {
    const created = await cluster.dryRunCreate(kind, twin);
    return { ...created, metadata: { ...created.metadata, name: object.metadata.name } };
  } catch (thrown) {
    if (thrown instanceof ApiFailure && thrown.status >= 400 && thrown.status < 500) return undefined;
    throw thrown;
  }
}
