import type { CarriedEdits } from '../../core/carried.ts';
import type { Context } from '../../core/context.ts';
import { Fault } from '../../core/fault.ts';
import type { Installation } from '../../core/installation.ts';
import type { KubeObject } from '../../core/object.ts';
import type { Sources } from '../../core/ports.ts';
import type { Conflict, Trace } from '../../core/trace.ts';
import { writerBehind } from '../../detect/field-takers.ts';
import { alike } from '../../merge/alike.ts';
import { parseManifest } from '../../merge/manifest.ts';
import type { LiveState, MergeInput } from '../../merge/merge-input.ts';
import { identityOf, prepared } from '../../merge/prepare.ts';
import { type BaseCandidate, type BasedMerge, mergeWithNearest } from '../../merge/rank-bases.ts';
import { carriedEdits } from '../target/carried.ts';
import { assertIsBase } from '../target/identity.ts';
import { isLeftOut, type Target, targetDocuments, variantOf } from '../target/target.ts';
import { type Bases, NoBase, readBases } from './base.ts';
import { definitionEdits } from './definitions.ts';
import { readToldBy, withGiven } from './given.ts';
import { readListRules } from './list-rules.ts';
import { withSince } from './obsolete.ts';
import { type Orphans, orphansOf } from './orphans.ts';
import { awayOf, type OwnObject, readAdditions, readLiveStates, readOwnObjects } from './own-objects.ts';
import { othersToCompare } from './unnoted.ts';

/** A person's edits, and what the target with them is. */
export interface EditSurvey {
  readonly edits: readonly Trace[];
  /** Only a person can decide; until then the target's value stands. */
  readonly conflicts: readonly Conflict[];
  /** Releases that may have been installed: the one that the edits are told by, then those that fit as well. */
  readonly bases: readonly string[];
  /** Why a person must confirm the base. */
  readonly doubt?: string;
  readonly notes: readonly string[];
  /** What of the installed release the target no longer has. */
  readonly orphans: Orphans;
  /** Keys of objects whose changes since the last apply cannot be told. */
  readonly untold: ReadonlySet<string>;
  /** What goes into the target; undefined where nothing is merged. */
  readonly carried?: CarriedEdits;
  /** It differs from what this run has kept, and counts from now on. */
  readonly anew?: boolean;
}

/**
 * Finds what a person changed in the manifest of the installed release and merges it with the target as released (§4.4/1).
 * Throws NoBase if that manifest is not at hand, and Fault('usage') for a `--resolve` that decides nothing.
 */
export async function readEdits(sources: Sources, context: Context, installation: Installation, target: Target): Promise<EditSurvey> {
  const { labelled, others } = await readBases(sources, context, installation);
  const theirs = targetDocuments(target);
  const own = await readOwnObjects(sources.cluster, [...theirs, ...labelled.documents.filter(isNoDefinition)]);
  const { states, untold } = await readLiveStates(
    sources.cluster,
    own.filter(({ document }) => isNoDefinition(document)),
    labelled.documents,
  );
  const file = await readInstalledManifest(sources, context, installation);
  const known = new Set([...theirs, ...labelled.documents].map(identityOf));
  const added = await readAdditions(sources.cluster, file?.filter((object) => !known.has(identityOf(object))) ?? []);
  const mine = noted(own, labelled);
  const resolutions = context.options.resolutions ?? {};
  const lists = await readListRules(
    sources.cluster,
    edited(theirs, labelled.documents, [...mine, ...(file ?? [])], [...states, ...added.states]),
  );
  const input = {
    mine,
    mineIs: 'last-applied',
    ...(file ? { file } : {}),
    theirs,
    live: [...states, ...added.states],
    away: file ? new Map([...added.away, ...awayOf(own.filter(({ document }) => isNoDefinition(document)))]) : added.away,
    listRules: lists,
    writerOf: writerBehind,
    resolutions,
    knowledge: context.profile.merge,
  } as const;
  const merged = merge(input, await comparable(sources, own, input, { labelled, others }));
  const { base, near, doubt } = merged;
  const result = { ...merged.result, edits: [...(target.moved ?? []), ...merged.result.edits] };
  refuseUnused(result.unused, result.conflicts);
  const bases = [base, ...near.filter((one) => one !== base)].map(({ release }) => release);
  const span = { base, target: { release: target.release, documents: theirs } };
  const all = [labelled, ...others];
  const whole = { ...base, documents: all.find(({ release }) => release === base.release)?.documents ?? base.documents };
  const definitions = file ? [] : definitionEdits(own, whole, all, theirs, installation.release);
  const edits = [...(await withSince(sources, context, installation, result.edits, span)), ...definitions];
  const carried = await carriedEdits(
    target,
    base.release,
    { edits, documents: withGiven(result.documents, context) },
    { resolutions, listRules: lists },
  );
  const told = await readToldBy(sources, context, variantOf(context, installation).file, base.release);
  return {
    edits,
    conflicts: result.conflicts,
    bases,
    ...(doubt === undefined ? {} : { doubt }),
    notes: result.notes,
    orphans: orphansOf(own, theirs),
    untold,
    carried: { ...carried, told },
  };
}

/**
 * The stage before this one has brought the target's definitions: what is live no longer tells edits of them. Only a file of
 * the person's own does.
 */
async function comparable({ cluster }: Sources, own: readonly OwnObject[], input: Omit<MergeInput, 'base'>, bases: Bases): Promise<Bases> {
  const plain = (one: BaseCandidate) => (input.file ? one : { ...one, documents: one.documents.filter(isNoDefinition) });
  const compared = { labelled: plain(bases.labelled), others: bases.others.map(plain) };
  const workable = own.filter(({ document }) => isNoDefinition(document));
  return { ...compared, others: await othersToCompare(cluster, workable, input, compared) };
}

/**
 * Of all objects those in which somebody changed something: only there lists are merged. What only the person's file has is as it
 * was applied, unless it was changed in the cluster.
 */
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

type Documents = readonly KubeObject[];

/** Without metadata: its lists have one rule everywhere. */
function specOf(object: KubeObject | undefined): unknown {
  if (!object) return undefined;
  const { metadata: _, apiVersion: _apiVersion, ...fields } = prepared(object);
  return fields;
}

function merge(input: Omit<MergeInput, 'base'>, { labelled, others }: Bases): BasedMerge {
  const merged = mergeWithNearest(input, [labelled, ...others], labelled.release);
  if (!merged) throw new NoBase('there is no manifest to tell edits by: give one with --base FILE|DIR');
  return merged;
}

function isNoDefinition({ kind }: Pick<KubeObject, 'kind'>): boolean {
  return kind !== 'CustomResourceDefinition';
}

/** What kubectl noted, object by object; of kinds that the server no longer has nothing can be told, so nothing was edited. */
function noted(own: readonly OwnObject[], base: BaseCandidate): readonly KubeObject[] {
  const released = new Map(base.documents.map((document) => [identityOf(document), document]));
  return own.flatMap(({ document, state, applied }) => {
    if (!isNoDefinition(document)) return [];
    if (applied) return [{ ...applied, apiVersion: document.apiVersion }];
    const unread = state === 'unserved' ? released.get(identityOf(document)) : undefined;
    return unread ? [unread] : [];
  });
}

/** The person's own file of what is installed; undefined if none was given. */
export async function readInstalledManifest({ files }: Sources, context: Context, installation: Installation) {
  const path = context.options.installedManifest;
  if (path === undefined) return undefined;
  const manifest = parseManifest(await files.readText(path), path);
  const documents = manifest.documents.map(({ object }) => object);
  assertIsBase(manifest, documents, variantOf(context, installation));
  return documents.filter((object) => !isLeftOut(object));
}

function refuseUnused(unused: readonly string[], conflicts: readonly Conflict[]): void {
  const [field] = unused;
  if (field === undefined) return;
  const open = conflicts.map((one) => one.field);
  throw new Fault('usage', `--resolve ${field}: nothing is to be decided there`, [
    open.length > 0 ? `to be decided: ${open.join(', ')}` : 'leave it out: every edit is settled',
  ]);
}
