import { type Command, command } from '../../kernel/argv.ts';
import type { Reading } from '../../kernel/check.ts';
import { type RepairCommand, repairCommand } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { eachOf } from '../../kernel/each-of.ts';
import { parsedJson } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import { crdName, groupOf, type KubeObject, objectKey, refOf, refText } from '../../kernel/object.ts';
import type { PlannedObject } from '../../kernel/plan.ts';
import { ApiFailure, type ClusterReader } from '../../kernel/ports.ts';
import { isOlder } from '../../kernel/release.ts';
import { type Said, type Text, text } from '../../kernel/step.ts';
import { LAST_APPLIED } from '../../kube/managed-fields.ts';
import { type Manifest, objectsIn } from '../../manifest/manifest.ts';
import type { LiveState, MergeInput } from '../../manifest/merge-input.ts';
import { identityOf } from '../../manifest/prepare.ts';

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
    // Where kubectl's note was removed manually, only the live object tells.
    const applied = parsedJson(live.metadata.annotations?.[LAST_APPLIED] ?? '') as KubeObject | undefined;
    return { document, state: 'present', live, ...(applied ? { applied } : {}) };
  });
}

type Defaulting = Pick<ClusterReader, 'resolve' | 'dryRunCreate'>;

/**
 * What was changed in the cluster since the last apply; `base` has the release's own documents for objects that nobody noted. `untold`: keys
 * of objects whose changes cannot be told, for want of the server's defaults.
 */
export async function readLiveStates(cluster: Defaulting, own: readonly OwnObject[], base: readonly KubeObject[]) {
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
export async function readAdditions(cluster: ClusterReader, added: readonly KubeObject[]) {
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

/** What the installed release has and the target no longer has. */
export interface Orphans {
  /** As they are in the cluster, where they stay. */
  readonly live: readonly KubeObject[];
  /** Documents of kinds that this server no longer serves. */
  readonly unserved: readonly KubeObject[];
}

export const NO_ORPHANS: Orphans = { live: [], unserved: [] };

/** Of what the user has, whatever the target does not name. */
export function orphansOf(own: readonly OwnObject[], target: readonly KubeObject[]): Orphans {
  const targeted = new Set(target.map(identityOf));
  const orphans = own.filter(({ document }) => !targeted.has(identityOf(document)));
  return {
    live: orphans.flatMap(({ live }) => live ?? []),
    unserved: orphans.filter(({ state }) => state === 'unserved').map(({ document }) => document),
  };
}

/** Of what `base` has, whatever `target` does not: asked of the cluster again. */
export async function orphansBetween(
  cluster: Parameters<typeof readOwnObjects>[0],
  base: readonly KubeObject[],
  target: readonly KubeObject[],
): Promise<Orphans> {
  const targeted = new Set(target.map(identityOf));
  const gone = base.filter((document) => document.kind !== 'CustomResourceDefinition' && !targeted.has(identityOf(document)));
  return orphansOf(await readOwnObjects(cluster, gone), target);
}

/** What `edits` tells, and CRDs of removed kinds, which no base tells: `definitions` has the target's own. */
export async function readOrphans(
  cluster: ClusterReader,
  { profile, goal }: Pick<Context, 'profile' | 'goal'>,
  definitions: Manifest,
  edits?: Reading<{ readonly orphans: Orphans }>,
): Promise<Orphans> {
  const kept = new Set(objectsIn(definitions).map(({ metadata }) => metadata.name));
  // A release that is gone back to may ask for them.
  const removed = profile.removedKinds.filter(({ since }) => !isOlder(goal.release, since));
  const names = removed.map(crdName).filter((name) => !kept.has(name));
  const crds = await Promise.all(names.map((name) => cluster.get(K.CustomResourceDefinition, name)));
  const { live, unserved } = edits && 'value' in edits ? edits.value.orphans : NO_ORPHANS;
  const all = [...crds.filter((one) => one !== undefined), ...live];
  return { live: [...new Map(all.map((one) => [objectKey(one), one])).values()], unserved };
}

/** One row of the plan per object that stays: whether and when it may be deleted, and by which command the user does that. */
export function leftBehind({ live }: Orphans, removed: readonly KubeObject[] = []): readonly PlannedObject[] {
  return live
    .filter((one) => !removed.includes(one))
    .map((object) => ({
      ref: refOf(object),
      change: 'left-behind',
      fields: [],
      hidden: [],
      taken: [],
      note: text`the target no longer has it; ${farewell(object)}`,
    }));
}

/** What was installed under an API version that the server has no longer: the kind may live on under a newer one. */
export function unservedNotes({ unserved }: Orphans): readonly Said[] {
  return unserved.map((document) => {
    const { apiVersion, kind, metadata } = document;
    const look = command`kubectl get ${kind.toLowerCase()} ${metadata.name} ${metadata.namespace ? ['-n', metadata.namespace] : []}`;
    const fact = `the target no longer has it and this server no longer serves ${apiVersion}`;
    return text`${refText(refOf(document))}: ${fact}: it is gone, unless a newer version has the kind (${look})`;
  });
}

const WORKLOADS: readonly string[] = ['DaemonSet', 'Deployment', 'StatefulSet'];
const VERIFY = command`kubectl netsvc-upgrade verify`;
const GREEN = text`once ${VERIFY} is green`;

/** The command is for the user; there is none if the object holds others, as one slip would delete those too. */
function farewell(object: KubeObject): Text {
  const { kind, metadata } = object;
  if (kind === 'CustomResourceDefinition')
    return text`deleting it deletes every object of its kind, so there is no command for that; ${GREEN}, look whether any is left: ${command`kubectl get ${metadata.name} -A`}`;
  if (kind === 'Namespace')
    return text`deleting it deletes everything in it, so there is no command for that; ${GREEN}, look what is in it: ${contentsOf(metadata.name)}`;
  if (WORKLOADS.includes(kind))
    return text`its pods keep running the old release; once ${VERIFY} names nothing but them: ${deletion(object)}`;
  return text`old pods may still use it; ${GREEN}, and if nothing of yours uses it: ${deletion(object)}`;
}

/** Of every kind: `kubectl get all` leaves most of them out. */
const contentsOf = (namespace: string): Command =>
  command`kubectl api-resources --verbs=list --namespaced -o name | xargs -n 1 kubectl get --show-kind --ignore-not-found -n ${namespace}`;

/** With the group: another API may have a kind of the same name. */
function deletion({ apiVersion, kind, metadata: { name, namespace } }: KubeObject): RepairCommand {
  const group = groupOf(apiVersion);
  const type = `${kind.toLowerCase()}${group === '' ? '' : `.${group}`}`;
  return repairCommand`kubectl delete ${type} ${name} ${namespace ? ['-n', namespace] : []}`;
}
