import type { Action } from '../../kernel/action.ts';
import { command } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { type Installation, isKeyValue } from '../../kernel/installation.ts';
import { intentWords } from '../../kernel/intent.ts';
import { type KubeObject, type OwnerReference, plainRef, refText } from '../../kernel/object.ts';
import type { PlannedObject } from '../../kernel/plan.ts';
import type { Sources } from '../../kernel/ports.ts';
import { stage } from '../../kernel/stage.ts';
import { type Said, text } from '../../kernel/step.ts';
import { isPerson } from '../../kube/managed-fields.ts';
import { neverRenames } from '../policies/index.ts';
import { needs } from '../rights/index.ts';
import { readInstalled, rememberOf, unknownEnd } from '../survey/index.ts';
import { archiveOf } from './effects.ts';
import { entryKey } from './journal-entries.ts';
import type { LeftAlone, OwnersJudged } from './owner-facts.ts';
import type { OwnedFate } from './owner-fate.ts';
import { KEY_VALUE, NONE_TO_REMOVE, ownerReferencesChecks, ownersSearched } from './owner-references-checks.ts';
import { mayRestore } from './owner-rights.ts';
import { byKey, type Chosen, comesOff, type StripPlan, stripPlan } from './owner-strip.ts';
import { journalChecks } from './owners-checks.ts';
import { withReturned, withRights } from './put-back.ts';
import { readOwnersJudged } from './references.ts';
import { oldManifest } from './restore-judge.ts';
import { readLive } from './restore-live.ts';
import { putBackStage } from './restore-stage.ts';
import { JUDGED_ONCE_MORE_MS } from './survey.ts';

/** Removes the owner references that one rule names (`removalOf`), each recorded first (§4.8/1). */
export const ownerrefsStripStage = stage<StripFacts>({
  id: 'ownerrefs-strip',
  title: 'Remove owner references',
  ref: '§4.8/1',
  readOnly: false,
  needs: [needs.detection, needs.storedResources, needs.ownerSearch, needs.ownerReferences, needs.journal],
  traffic: 'untouched',
  undoneBy: 'ownerrefs restore --undo',
  undo: putBackStage,
  reaches: 'references',
  checks: [...journalChecks, ownersSearched, ...ownerReferencesChecks, mayRestore],
  async survey(sources, context) {
    const installation = await readInstalled(sources, context);
    const unknown = unknownEnd(installation, context);
    if (unknown) throw unknown;
    const judged = await readStripped(sources, context, installation);
    return { installation, ...judged };
  },
  plan(facts, context) {
    if (!facts.references) return { skip: `this ${intentWords(context.intent).noun} changes no UID` };
    if (facts.apiReplaced) return { skip: 'the new API server is being rolled out: references were removed before it' };
    const { objects, kinds } = facts.references;
    const journal = byKey(facts.recorded);
    const chosen: Chosen = (fate, owned) => comesOff(fate, owned, journal);
    const plan = stripPlan(objects, chosen, facts.recorded);
    if (plan.patches.length === 0) return { skip: `${NONE_TO_REMOVE} (${counted(kinds, 'kind')} searched)` };
    const isWatched = !context.chain?.again && mayComeBack(objects, chosen);
    return {
      actions: [...stripActions(plan, context), ...(isWatched ? [WATCH] : [])],
      ...(isWatched ? { again: true } : {}),
      objects: objects.flatMap((one) => plannedOf(one, chosen)),
      remember: rememberOf(facts.installation),
      notes: [
        'ownerrefs restore puts them back with the new UIDs once the new API server serves and policies have their new names',
        ...notesOf(objects, facts.installation, context),
      ],
    };
  },
});

/** Milliseconds to watch: controllers react to changes of what they own, and some check every few seconds. */
const WATCHED_MS = 5_000;

const WATCH: Action = {
  id: 'watch',
  title: `wait ${WATCHED_MS / 1000} s to see whether a controller puts the references back`,
  ref: '§4.8/1',
  undo: 'full',
  effect: { type: 'wait', until: { type: 'time-passed', ms: WATCHED_MS }, timeoutMs: WATCHED_MS },
};

/** What was removed is looked at once more after a while; who put it back, or may do so, is looked up. */
async function readStripped(sources: Sources, context: Context, installation: Installation): Promise<OwnersJudged> {
  const judged = await readOwnersJudged(sources, context, installation, isLast(context));
  if (context.chain?.again)
    return { ...(await withReturned(sources.cluster, judged)), manifests: await manifestsOf(sources, judged, installation) };
  return withRights(sources.cluster, judged);
}

/** In key-value mode no UID changes: a manifest with one restores nothing that is dead. */
async function manifestsOf({ cluster }: Sources, { recorded }: OwnersJudged, { datastore }: Installation): Promise<readonly LeftAlone[]> {
  if (isKeyValue({ datastore })) return [];
  const { found } = await readLive(cluster, recorded);
  return recorded.flatMap((entry) => oldManifest(entry, found.get(entryKey(entry)) ?? {}));
}

/** Unless all that is removed was written by the user at kubectl. */
function mayComeBack(objects: readonly OwnedFate[], chosen: Chosen): boolean {
  return objects.some(({ owned, fates }) =>
    fates.some((fate) => chosen(fate, owned) && !(fate.writtenBy && isPerson(fate.writtenBy.manager))),
  );
}

/** Nothing that changes UIDs follows: the user wants dangling references of an earlier upgrade removed. */
function isLast({ chain }: Context): boolean {
  return chain === undefined || chain.later.length === 0;
}

interface StripFacts extends OwnersJudged {
  readonly installation: Installation;
}

/** With a held renaming, or controllers that never begin it, references to policies stay removed for longer. */
function notesOf(objects: readonly OwnedFate[], installation: Installation, { profile, options }: Context): readonly Said[] {
  const removals = objects.flatMap(({ fates }) => fates.map(({ removal }) => removal));
  const policies = removals.filter((one) => one === 'stored-name').length;
  const staysStored = options.holdPolicyMigration || neverRenames(installation, profile) !== undefined;
  return [
    ...(removals.includes('key-value') ? [`${KEY_VALUE}: this costs patches and risks nothing else`] : []),
    ...(policies > 0 && staysStored
      ? [
          text`${counted(policies, 'reference')} of them name policies that keep their stored names. What the new API server does not find by name stays off until the policies are renamed (${command`kubectl netsvc-upgrade explain NS-743`})`,
        ]
      : []),
  ];
}

function stripActions({ entries, patches }: StripPlan, context: Context): readonly Action[] {
  const many = `${patches.length} ${patches.length === 1 ? 'object' : 'objects'}`;
  const record: Action = {
    id: 'record',
    title:
      entries.length === 0
        ? `make sure that the owner references of ${many} are recorded`
        : `record the owner references of ${counted(entries.length, 'object')}`,
    ref: '§4.8/1',
    undo: 'full',
    effect: { type: 'record-owners', entries, archive: archiveOf(context) },
  };
  const strip: Action = {
    id: 'strip',
    title: `remove the recorded owner references of ${many}`,
    ref: '§4.8/1',
    undo: 'full',
    effect: { type: 'patch-all', what: 'owner references removed', patches, recordedIn: 'owner-journal' },
    judgedWithinMs: JUDGED_ONCE_MORE_MS,
    cures: patches.map(({ target }) => ({ check: 'NS-701', subject: refText(target) })),
  };
  // Recorded by an interrupted run, they are read again, and the run record notes what the journal must hold.
  return [record, strip];
}

function plannedOf({ owned, fates }: OwnedFate, chosen: Chosen): readonly PlannedObject[] {
  const gone = fates.filter((fate) => chosen(fate, owned));
  if (gone.length === 0) return [];
  const fields = gone.map(({ place, reference }) => ({
    path: `metadata.ownerReferences[${place}]`,
    before: `${reference.kind}/${reference.name}`,
  }));
  const left = owned.references.filter((_, place) => !gone.some((fate) => fate.place === place));
  const bodies = { before: bodyWith(owned, owned.references), after: bodyWith(owned, left) };
  return [{ ref: plainRef(owned.object), change: 'update', fields, hidden: [], taken: [], bodies }];
}

/** The search reads nothing else of the object. */
function bodyWith(
  { object: { apiVersion, kind, name, namespace } }: OwnedFate['owned'],
  references: readonly OwnerReference[],
): KubeObject {
  const ownerReferences = references.length > 0 ? { ownerReferences: references } : {};
  return { apiVersion, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }), ...ownerReferences } };
}
