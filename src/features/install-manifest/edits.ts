import type { Context } from '../../kernel/context.ts';
import { eachOf } from '../../kernel/each-of.ts';
import type { Conflict, Side } from '../../kernel/edit.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Installation } from '../../kernel/installation.ts';
import { parsedJson } from '../../kernel/json.ts';
import { groupOf, type KubeObject } from '../../kernel/object.ts';
import type { ClusterReader, Sources } from '../../kernel/ports.ts';
import type { RunRecord } from '../../kernel/run-record.ts';
import type { KindRules, ListRules } from '../../kube/list-keys.ts';
import { alike } from '../../manifest/alike.ts';
import { formerOf } from '../../manifest/carried-file.ts';
import { type BaseCandidate, type BaseDoubt, mergeByBase } from '../../manifest/choose-base.ts';
import { objectsIn, readManifest } from '../../manifest/manifest.ts';
import { mergeManifest } from '../../manifest/merge.ts';
import type { LiveState, MergeInput } from '../../manifest/merge-input.ts';
import { listRulesOf } from '../../manifest/openapi-lists.ts';
import { identityOf, prepared } from '../../manifest/prepare.ts';
import { withoutOlderRules } from '../../manifest/roles-of-both.ts';
import { readOwnStrategies, withoutOwn } from '../canary/index.ts';
import { attempt, writerBehind } from '../survey/index.ts';
import { readBases } from './base.ts';
import { carriedEdits, type Editing } from './carried.ts';
import { definitionEdits, tellingDefinitions } from './definitions.ts';
import { editsAsGiven, readToldBy, withGiven } from './given.ts';
import { assertIsBase, type Target } from './identity.ts';
import { withSince } from './obsolete.ts';
import { awayOf, type Orphans, type OwnObject, orphansOf, readAdditions, readLiveStates, readOwnObjects } from './own-objects.ts';
import { isLeftOut, ownFile, targetDocuments } from './target.ts';
import { ownStop, readWayBack } from './way-back.ts';

declare module '../../kernel/context.ts' {
  interface Options {
    /** Decisions about edits, by the `field` of a conflict. */
    readonly resolutions?: Readonly<Record<string, Side>>;
  }
}

/** The user's edits, and what the target with them is. */
export interface EditSurvey extends Editing {
  /** Only the user can decide; until then the target's value stands. */
  readonly conflicts: readonly Conflict[];
  /** The release that the edits are identified by, then one whose text is nearer and gives the same. */
  readonly bases: readonly string[];
  /** Why the user must say which release was installed. */
  readonly doubt?: BaseDoubt;
  readonly notes: readonly string[];
  /** What of the installed release the target no longer has. */
  readonly orphans: Orphans;
  /** Keys of objects whose changes since the last apply cannot be told. */
  readonly untold: ReadonlySet<string>;
}

/**
 * Finds what the user changed in the manifest of the installed release and merges it with the target as released (§4.4/1).
 * Throws NoBase if that manifest is not at hand, and Fault('usage') for a `--resolve` that decides nothing.
 */
export async function readEdits(
  sources: Sources,
  context: Context,
  installation: Installation,
  target: Target,
  record?: RunRecord,
): Promise<EditSurvey> {
  const { takesBack } = context.goal;
  const released = targetDocuments(target);
  const back = takesBack && (await readWayBack(sources, context, installation, released, takesBack));
  const candidates = back?.candidates ?? (await readBases(sources, context, installation));
  const { first, others } = candidates;
  const theirs = back?.wanted ?? released;
  const own = await readUsersObjects(sources, context, record, [...theirs, ...first.documents.filter(isNoDefinition)]);
  const objects = own.filter(({ document }) => isNoDefinition(document));
  const { states, untold } = await readLiveStates(sources.cluster, objects, first.documents);
  const file = await readInstalledManifest(sources, context, installation);
  const known = new Set([...theirs, ...first.documents].map(identityOf));
  const added = await readAdditions(sources.cluster, file?.filter((object) => !known.has(identityOf(object))) ?? []);
  const beside = (back?.left ?? []).filter((one) => isNoDefinition(one) && !known.has(identityOf(one)));
  const mine = noted(own, first);
  const resolutions = context.options.resolutions ?? {};
  const live = [...states, ...added.states];
  const lists = await readListRules(sources.cluster, edited(theirs, first.documents, [...mine, ...(file ?? [])], live));
  const input = {
    mine,
    mineIs: 'last-applied',
    ...(file ? { file } : {}),
    theirs,
    live,
    away: file ? new Map([...added.away, ...awayOf(objects)]) : added.away,
    listRules: lists,
    writerOf: writerBehind,
    resolutions,
    knowledge: context.profile.merge,
  } as const;
  const apart = file ? undefined : tellingDefinitions(own, theirs);
  const { base, alike, doubt, ...rest } = mergeByBase(input, candidates, apart);
  const result = { ...rest.result, edits: [...(target.moved ?? []), ...rest.result.edits] };
  refuseUnused(result.unused, result.conflicts);
  const span = { base, target: { release: target.release, documents: theirs } };
  const definitions = file ? [] : definitionEdits(own, base, [first, ...others], theirs, installation.release);
  const found = await withSince(sources, context, installation, result.edits, span);
  const edits = [...editsAsGiven(found, context), ...definitions];
  const merged = { edits, documents: withGiven(result.documents, context), base: base.release, resolutions };
  const former = { ...formerOf(base.release, base.documents, installedDocuments(input, base)), added: newcomers(own, theirs) };
  const carried = { ...carriedEdits(target, merged, lists), ...(back ? {} : { former }) };
  const told = await readToldBy(sources, context, installation, base.release);
  return {
    edits,
    conflicts: result.conflicts,
    bases: [base.release, ...(alike === undefined ? [] : [alike])],
    ...(doubt === undefined ? {} : { doubt }),
    notes: [baseNote(base.release, doubt), ...result.notes],
    orphans: orphansOf([...own, ...(await readOwnObjects(sources.cluster, beside))], theirs),
    untold,
    carried: { ...carried, told },
  };
}

/** Of the target what is not there. */
function newcomers(own: readonly OwnObject[], theirs: Documents): readonly string[] {
  const absent = new Set(own.filter(({ state }) => state !== 'present').map(({ document }) => identityOf(document)));
  return theirs.map(identityOf).filter((one) => absent.has(one));
}

/** What is installed, with the user's edits: what a rollback goes back to. */
function installedDocuments(input: Omit<MergeInput, 'base'>, { documents }: BaseCandidate): readonly KubeObject[] {
  const base = documents.filter(isNoDefinition);
  return mergeManifest({ ...input, base, theirs: base, resolutions: {} }).documents;
}

/** Of all objects those with a change: only they are merged. One only in the user's file counts as applied, or as changed since. */
function edited(theirs: Documents, base: Documents, mine: Documents, live: readonly LiveState[]): Documents {
  const [was, is] = [base, mine].map((all) => new Map(all.map((object) => [identityOf(object), prepared(object)])));
  const changed = new Set(live.filter(({ before, now }) => !alike(specOf(before), specOf(now))).map(({ now }) => identityOf(now)));
  const own = new Set([...theirs, ...base].map(identityOf));
  const all = [...theirs, ...base, ...mine, ...live.map(({ now }) => now)];
  const once = new Map(all.toReversed().map((object) => [identityOf(object), object]));
  return [...once.values()].filter((object) => {
    const identity = identityOf(object);
    const edited = own.has(identity) ? is?.get(identity) : undefined;
    return changed.has(identity) || (edited !== undefined && !alike(specOf(was?.get(identity)), specOf(edited), { apartFromImages: true }));
  });
}

/** Names the base in every plan, so that the reader knows what the edits are compared with. */
export function baseNote(base: string, doubt?: BaseDoubt): string {
  const what = `base: the manifest of ${base}`;
  return doubt ? `${what}, which need not be the one that was installed (NS-207)` : `${what}; your changes are what you have changed since`;
}

type Documents = readonly KubeObject[];

/** What this program gave the agents or a role for a while is no edit. */
async function readUsersObjects(
  { cluster, records }: Sources,
  context: Context,
  record: RunRecord | undefined,
  documents: Documents,
): Promise<readonly OwnObject[]> {
  const objects = await readOwnObjects(cluster, documents);
  const strategies = await readOwnStrategies(
    records,
    record,
    context,
    objects.flatMap(({ live }) => live ?? []),
  );
  const asUsers = await ownStop(records, context);
  return objects.map((one) =>
    one.live ? { ...one, live: asUsers(withoutOlderRules(withoutOwn(one.live, strategies, one.document))) } : one,
  );
}

/** Without metadata: its lists have one rule everywhere. */
function specOf(object: KubeObject | undefined): unknown {
  if (!object) return undefined;
  const { metadata: _, apiVersion: _apiVersion, ...fields } = prepared(object);
  return fields;
}

function isNoDefinition({ kind }: Pick<KubeObject, 'kind'>): boolean {
  return kind !== 'CustomResourceDefinition';
}

/** What kubectl noted, object by object; kinds that the server no longer has count as not edited. */
function noted(own: readonly OwnObject[], base: BaseCandidate): readonly KubeObject[] {
  const released = new Map(base.documents.map((document) => [identityOf(document), document]));
  return own.flatMap(({ document, state, applied }) => {
    if (!isNoDefinition(document)) return [];
    if (applied) return [{ ...applied, apiVersion: document.apiVersion }];
    const unread = state === 'unserved' ? released.get(identityOf(document)) : undefined;
    return unread ? [unread] : [];
  });
}

/** The user's own file of what is installed; undefined if none was given. */
export async function readInstalledManifest({ files }: Sources, context: Context, installation: Installation) {
  const path = context.options.installedManifest;
  if (path === undefined) return undefined;
  const documents = objectsIn(await readManifest(await files.readText(path), path));
  assertIsBase({ name: path }, documents, ownFile(context, installation).variant);
  return documents.filter((object) => !isLeftOut(object));
}

function refuseUnused(unused: readonly string[], conflicts: readonly Conflict[]): void {
  const [field] = unused;
  if (field === undefined) return;
  const open = conflicts.map((one) => one.field);
  throw new Fault('usage', `--resolve ${field}: nothing is to be decided there`, [
    open.length > 0 ? `to be decided: ${open.join(', ')}` : 'leave it out: every change is settled',
  ]);
}

/** Requests under way at a time: these documents are large. */
const WIDTH = 2;

/** Kinds without lists that are merged, or whose lists have rules of their own. */
const OWN_RULES = new Set(['ConfigMap', 'Secret', 'Role', 'ClusterRole', 'CustomResourceDefinition']);

/** How the server identifies list items, one request per group and version; without an answer the table applies. */
export async function readListRules(cluster: Pick<ClusterReader, 'raw'>, objects: readonly KubeObject[]): Promise<ListRules> {
  const merged = objects.filter(({ kind, ...fields }) => !OWN_RULES.has(kind) && hasList(fields));
  const versions = [...new Set(merged.map(({ apiVersion }) => apiVersion))];
  const read = await eachOf(versions, WIDTH, async (apiVersion): Promise<readonly (readonly [string, KindRules])[]> => {
    const document = await attempt(async () =>
      parsedJson(await cluster.raw(`/openapi/v3/${groupOf(apiVersion) === '' ? 'api' : 'apis'}/${apiVersion}`)),
    );
    if ('unread' in document) return [];
    const kinds = [...new Set(merged.filter((one) => one.apiVersion === apiVersion).map(({ kind }) => kind))];
    return kinds.flatMap((kind) => {
      const rules = listRulesOf(document.value, apiVersion, kind);
      return rules ? [[`${apiVersion} ${kind}`, rules] as const] : [];
    });
  });
  return new Map(read.flat());
}

function hasList(value: unknown): boolean {
  if (Array.isArray(value)) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(hasList);
}
