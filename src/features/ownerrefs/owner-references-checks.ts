import { command } from '../../kernel/argv.ts';
import { type Evidence, notApplicable, ok, type Verdict } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import type { JournalEntry } from '../../kernel/journal.ts';
import { plainRef, refText } from '../../kernel/object.ts';
import { writerText } from '../../kube/managed-fields.ts';
import { failed, listed, PROGRAM } from '../survey/index.ts';
import type { OwnerReferences, OwnersCheck, OwnersJudged, PausableController, RestoreJudged } from './owner-facts.ts';
import type { OwnedFate, ReferenceFate } from './owner-fate.ts';
import { byKey, cameBack } from './owner-strip.ts';
import { isApiAway } from './undiscovered.ts';

/** A reference that the upgrade leaves with a UID that nobody has any more, and its object. */
export interface Breaking {
  readonly owned: OwnedFate['owned'];
  readonly fate: ReferenceFate;
}

/** Undefined where nothing was searched. */
export function breakingIn({ references }: OwnersJudged): readonly Breaking[] | undefined {
  return references?.objects.flatMap(({ owned, fates }) => fates.filter(({ breaks }) => breaks).map((fate) => ({ owned, fate })));
}

/** Those of them that were off once. */
function returned(breaking: readonly Breaking[], recorded: readonly JournalEntry[]): readonly Breaking[] {
  const journal = byKey(recorded);
  return breaking.filter(({ owned, fate }) => cameBack(owned, fate.reference, journal));
}

/** NS-701 where they are still there. */
function broken(breaking: readonly Breaking[], { recorded, controllers = [] }: OwnersJudged): Verdict {
  const back = returned(breaking, recorded);
  const evidence = breaking.map((one) => evidenceOf(one, back.includes(one)));
  const fact = `${counted(breaking.length, 'reference')} to ${ownersOf(breaking)} would dangle after the upgrade: garbage collection would delete the objects`;
  if (back.length === 0)
    return failed(fact, 'Remove them first: they are recorded, and put back with the new UIDs.', {
      next: `${PROGRAM} ownerrefs strip`,
      evidence,
    });
  const came =
    back.length === breaking.length
      ? `${back.length === 1 ? 'it was' : 'they were'} removed and came back`
      : `${back.length} of them ${back.length === 1 ? 'was' : 'were'} removed and came back`;
  return failed(`${fact}; ${came}`, `${whoPutBack(back)} ${pauseText(controllers)} ${AFTERWARDS}`, {
    next: pauseStep(controllers),
    evidence,
  });
}

export function ownersOf(breaking: readonly Breaking[]): string {
  return listed([...new Set(breaking.map(({ fate: { reference } }) => `${reference.kind}/${reference.name}`))]);
}

/** Field managers of these references. */
export function managersOf(breaking: readonly Breaking[]): readonly string[] {
  return [...new Set(breaking.flatMap(({ fate }) => fate.writtenBy?.manager ?? []))];
}

const AFTERWARDS =
  'Then run the same command again: it removes them once more. Start the controller again after ownerrefs restore, not before.';

/** As far as the cluster tells. */
function whoPutBack(back: readonly Breaking[]): string {
  const managers = managersOf(back);
  if (managers.length === 0) return 'A controller puts them back: pause it.';
  if (managers.length === 1) return `Field manager ${managers[0]} put them back: pause that controller.`;
  return `Field managers ${listed(managers)} put them back: pause these controllers.`;
}

function pauseText(controllers: readonly PausableController[]): string {
  if (controllers.length === 0) return 'Scale its Deployment to 0, or suspend its reconciliation.';
  if (controllers.length === 1) return `${nameOf(controllers)} goes by that name: scale it to 0.`;
  return `These go by that name: ${nameOf(controllers)}. Scale the right one to 0.`;
}

function nameOf(controllers: readonly PausableController[]): string {
  return listed(controllers.map(({ kind, namespace, name, replicas }) => `${kind} ${namespace}/${name} (${counted(replicas, 'replica')})`));
}

/** Lists the workloads with their images. */
export const PAUSABLE = 'kubectl get deployments,statefulsets --all-namespaces -o wide';

/** What somebody may paste: the pause itself where only one workload can be meant. */
function pauseStep([only, ...more]: readonly PausableController[]): string {
  if (only === undefined || more.length > 0) return PAUSABLE;
  return command`kubectl -n ${only.namespace} scale ${`${only.kind.toLowerCase()}/${only.name}`} --replicas=0`;
}

function evidenceOf({ owned, fate }: Breaking, isBack: boolean): Evidence {
  const { reference } = fate;
  const object = plainRef(owned.object);
  const role = reference.controller ? ', its controller' : '';
  const by = fate.writtenBy ? `, by ${writerText(fate.writtenBy)}` : '';
  const came = isBack ? `; was removed and is back${by}` : '';
  const detail = `owner ${reference.apiVersion} ${reference.kind}/${reference.name}${role}: ${textOf(fate)}${came}`;
  return { text: refText(object), object, detail };
}

function textOf({ fate, nameAfter }: ReferenceFate): string {
  if (nameAfter !== undefined) return `not found by this name: the new API server calls the policy ${nameAfter}`;
  if (fate === 're-created') return 'UID changes when the policy is stored under its new name';
  if (fate === 'unaddressed') return 'not found by this name: the policy stays stored under its old one';
  if (fate === 'misread') return 'the new API server shows this reference with another UID';
  if (fate === 'unknown') return 'UID after the upgrade not known';
  return 'UID changes with the API server';
}

export const NO_CHANGE = 'no UID changes on this way';
/** The chain's stage that removes references. */
const STRIP = 'ownerrefs-strip';

/** A kind that could not be searched may hold breaking references: a user who knows better accepts it by name (§4.8). */
export const SEARCHED = {
  id: 'NS-741',
  title: 'owner references searched everywhere',
  category: 'follow-up',
  severity: 'error',
  ref: '§4.8/1',
} as const;

export const UNBROKEN = {
  id: 'NS-701',
  title: 'no owner references that the upgrade breaks',
  category: 'follow-up',
  severity: 'error',
  ref: '§7/1',
} as const;

export const ownersSearched: OwnersCheck = {
  ...SEARCHED,
  judge: ({ references, apiReplaced }, { profile }) => (references ? searched(references, profile, apiReplaced) : notApplicable(NO_CHANGE)),
};

export function searched(
  { unread, kinds }: Pick<OwnerReferences, 'unread' | 'kinds'>,
  { apiGroup }: Pick<Context['profile'], 'apiGroup'>,
  apiReplaced = false,
): Verdict {
  if (unread.length === 0) return ok(`${counted(kinds, 'kind')} searched`);
  const evidence = unread.map(({ kind, because }) => ({ text: kind, detail: because }));
  if (isApiAway(unread, apiGroup)) {
    const because = `the API ${apiGroup} is not available: owner references cannot be searched there`;
    const next = command`kubectl describe apiservice ${`v3.${apiGroup}`}`;
    return apiReplaced
      ? failed(`${because}; this run replaces its server`, 'Continue the run: it waits for the new server.', {
          evidence,
          next: `${PROGRAM} run`,
          expected: true,
        })
      : failed(because, 'Look why its server is not available, and run again. Do not accept this: what is owned there would be lost.', {
          evidence,
          next,
        });
  }
  return failed(
    `owner references of ${counted(unread.length, 'kind')} could not be searched: ${listed(unread.map(({ kind }) => kind))}`,
    'Let this account list them, or repair the API behind them; accept them by name if nothing there can be owned by the service.',
    { evidence, next: `${PROGRAM} ownerrefs list` },
  );
}

export const ownerReferencesChecks: readonly OwnersCheck[] = [
  /** Before the stage that removes them, only a user who wants none removed must decide. */
  {
    ...UNBROKEN,
    judge: ofBreaking((breaking, facts, { chain, options }) => {
      if (options.ownerrefs === 'never') return broken(breaking, { ...facts, recorded: [] });
      // Only what this command removed just now, and then watched: what came back before it is removed like the rest.
      const back = chain?.again ? returned(breaking, facts.recorded) : [];
      return back.length > 0 ? broken(back, facts) : ok(`${counted(breaking.length, 'reference')} to be removed`);
    }),
  },
  /** Applying the manifest again restores the old UID, and garbage collection then deletes the object. */
  {
    id: 'NS-742',
    title: 'applied manifests without old UIDs',
    category: 'follow-up',
    severity: 'warning',
    ref: '§4.8/1',
    judge(facts) {
      const breaking = breakingIn(facts);
      if (breaking === undefined) return notApplicable(NO_CHANGE);
      const still = breaking
        .filter(({ owned, fate }) => owned.appliedOwners?.includes(fate.reference.uid))
        .map(({ owned: { object }, fate: { reference } }) => ({
          text: refText(object),
          object: plainRef(object),
          detail: `its manifest names ${reference.kind}/${reference.name} with UID ${reference.uid}`,
        }));
      return manifestVerdict([...still, ...(facts.manifests ?? [])]);
    },
  },
];

/** Right before the actions that change UIDs: references that exist now would break (§4.8, §7). */
export const noneBreaks: OwnersCheck = {
  ...UNBROKEN,
  judge(facts, context) {
    const { chain, options } = context;
    if (chain?.pending.includes(STRIP) && options.ownerrefs !== 'never') return notApplicable('ownerrefs strip comes before');
    return ofBreaking(broken)(facts, context);
  },
};

/** Of what breaks, if anything does. */
function ofBreaking(judge: (breaking: readonly Breaking[], facts: OwnersJudged, context: Context) => Verdict): OwnersCheck['judge'] {
  return (facts, context) => {
    const breaking = breakingIn(facts);
    if (breaking === undefined) return notApplicable(NO_CHANGE);
    return breaking.length === 0 ? ok('no ownerReference points to an object whose UID will change') : judge(breaking, facts, context);
  };
}

export function manifestVerdict(evidence: readonly Evidence[]): Verdict {
  if (evidence.length === 0) return ok('no applied manifest names an owner whose UID changes');
  return failed(
    `the manifests of ${counted(evidence.length, 'object')}, as kubectl applied them, name owners by their old UIDs: ${listed(evidence.map(({ text }) => text))}`,
    'Remove metadata.ownerReferences from these manifests. Applied again, they would restore a UID that no longer exists, and garbage collection would delete the objects.',
    { evidence, next: `${PROGRAM} ownerrefs list` },
  );
}

/** NS-741 of the stages after the upgrade. */
export function searchedAgain({ idle, unread }: Pick<RestoreJudged, 'idle' | 'unread'>, { profile }: Context): Verdict {
  return idle ? notApplicable('no reference is recorded as removed') : searched({ unread, kinds: 0 }, profile);
}
