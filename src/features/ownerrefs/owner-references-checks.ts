import { type Command, command } from '../../kernel/argv.ts';
import { type Evidence, notApplicable, ok, type Verdict } from '../../kernel/check.ts';
import { type RepairCommand, repairCommand } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import type { JournalEntry } from '../../kernel/journal.ts';
import { plainRef, refText } from '../../kernel/object.ts';
import { writerText } from '../../kube/managed-fields.ts';
import { failed, listed } from '../survey/index.ts';
import type { OwnerReferences, OwnersCheck, OwnersJudged, PausableController, RestoreJudged } from './owner-facts.ts';
import type { OwnedFate, ReferenceFate } from './owner-fate.ts';
import { byKey, cameBack } from './owner-strip.ts';
import type { Removal } from './removal-rule.ts';
import { isApiAway } from './undiscovered.ts';

/** A reference that has to be removed before the upgrade, and its object. */
export interface Removable {
  readonly owned: OwnedFate['owned'];
  readonly fate: ReferenceFate;
}

/** Undefined where nothing was searched. */
export function removableIn({ references }: OwnersJudged): readonly Removable[] | undefined {
  return references?.objects.flatMap(({ owned, fates }) => fates.filter(({ removal }) => removal).map((fate) => ({ owned, fate })));
}

/** No object is lost by any of them: UIDs stay. */
export function isHarmless(removable: readonly Removable[]): boolean {
  return removable.every(({ fate }) => fate.removal === 'key-value');
}

export const NONE_TO_REMOVE = 'no ownerReference has to be removed first';
export const KEY_VALUE = 'UIDs stay in a key-value store, and the procedure has these references removed all the same';

/** Those of them that were off once. */
function returned(removable: readonly Removable[], recorded: readonly JournalEntry[]): readonly Removable[] {
  const journal = byKey(recorded);
  return removable.filter(({ owned, fate }) => cameBack(owned, fate.reference, journal));
}

/** NS-701 where they are still there. */
function mustGo(removable: readonly Removable[], { recorded, controllers = [] }: OwnersJudged): Verdict {
  const back = returned(removable, recorded);
  const evidence = removable.map((one) => evidenceOf(one, back.includes(one)));
  const harmless = isHarmless(removable) ? { severity: 'warning' as const } : {};
  const risk = isHarmless(removable) ? KEY_VALUE : 'garbage collection may delete the objects otherwise';
  const fact = `${counted(removable.length, 'reference')} to ${ownersOf(removable)} must be removed first: ${risk}`;
  if (back.length === 0)
    return failed(fact, 'Remove them first: they are recorded, and put back with the new UIDs.', {
      ...{ next: command`kubectl netsvc-upgrade ownerrefs strip`, evidence },
      ...harmless,
    });
  const came =
    back.length === removable.length
      ? `${back.length === 1 ? 'it was' : 'they were'} removed and came back`
      : `${back.length} of them ${back.length === 1 ? 'was' : 'were'} removed and came back`;
  return failed(`${fact}; ${came}`, `${whoPutBack(back)} ${pauseText(controllers)} ${AFTERWARDS}`, {
    ...{ ...pauseStep(controllers), evidence },
    ...harmless,
  });
}

export function ownersOf(removable: readonly Removable[]): string {
  return listed([...new Set(removable.map(({ fate: { reference } }) => `${reference.kind}/${reference.name}`))]);
}

/** Field managers of these references. */
export function managersOf(removable: readonly Removable[]): readonly string[] {
  return [...new Set(removable.flatMap(({ fate }) => fate.writtenBy?.manager ?? []))];
}

const AFTERWARDS =
  'Then run the same command again: it removes them once more. Start the controller again after ownerrefs restore, not before.';

/** As far as the cluster tells. */
function whoPutBack(back: readonly Removable[]): string {
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
export const PAUSABLE = command`kubectl get deployments,statefulsets --all-namespaces -o wide`;

/** The pause itself where only one workload can be meant. */
function pauseStep([only, ...more]: readonly PausableController[]): { readonly next: Command; readonly fix?: RepairCommand } {
  if (only === undefined || more.length > 0) return { next: PAUSABLE };
  const workload = `${only.kind.toLowerCase()}/${only.name}`;
  return {
    fix: repairCommand`kubectl -n ${only.namespace} scale ${workload} --replicas=0`,
    next: command`kubectl -n ${only.namespace} get ${workload} -o wide`,
  };
}

function evidenceOf({ owned, fate }: Removable, isBack: boolean): Evidence {
  const { reference } = fate;
  const object = plainRef(owned.object);
  const role = reference.controller ? ', its controller' : '';
  const by = fate.writtenBy ? `, by ${writerText(fate.writtenBy)}` : '';
  const why = fate.removal ? `: ${TEXTS[fate.removal]}` : '';
  const came = isBack ? `; was removed and is back${by}` : '';
  const detail = `owner ${reference.apiVersion} ${reference.kind}/${reference.name}${role}${why}${came}`;
  return { text: refText(object), object, detail };
}

const TEXTS: Readonly<Record<Removal, string>> = {
  'stored-name': 'the policy is stored under another name than its own',
  'uid-change': 'UIDs of the v3 API change on this way',
  'key-value': KEY_VALUE,
  'stored-uid': 'names the UID of the stored object, which the new API server does not serve',
};

export const NO_CHANGE = 'no UID changes on this way';

/** The chain's stage that removes references. */
const STRIP = 'ownerrefs-strip';

/** A kind that could not be searched may hold such references: a user who knows better accepts it by name (§4.8). */
export const SEARCHED = {
  id: 'NS-741',
  title: 'owner references searched everywhere',
  category: 'follow-up',
  severity: 'error',
  ref: '§4.8/1',
} as const;

export const NONE_LEFT = {
  id: 'NS-701',
  title: 'no owner references left to remove',
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
          next: command`kubectl netsvc-upgrade run`,
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
    { evidence, next: command`kubectl netsvc-upgrade ownerrefs list` },
  );
}

export const ownerReferencesChecks: readonly OwnersCheck[] = [
  {
    ...NONE_LEFT,
    judge: ofRemovable((removable, facts, { chain }) => {
      // Only what this command removed just now, and then watched: what came back before it is removed like the rest.
      const back = chain?.again ? returned(removable, facts.recorded) : [];
      return back.length > 0 ? mustGo(back, facts) : ok(`${counted(removable.length, 'reference')} to be removed`);
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
      const removable = removableIn(facts);
      if (removable === undefined) return notApplicable(NO_CHANGE);
      const still = removable
        .filter(({ owned, fate }) => fate.removal !== 'key-value' && owned.appliedOwners?.includes(fate.reference.uid))
        .map(({ owned: { object }, fate: { reference } }) => ({
          text: refText(object),
          object: plainRef(object),
          detail: `its manifest names ${reference.kind}/${reference.name} with UID ${reference.uid}`,
        }));
      return manifestVerdict([...still, ...(facts.manifests ?? [])]);
    },
  },
];

/** Right before the actions that change UIDs: none of these references may exist (§4.8, §7). */
export const noneLeft: OwnersCheck = {
  ...NONE_LEFT,
  judge(facts, context) {
    if (context.chain?.pending.includes(STRIP)) return notApplicable('ownerrefs strip comes before');
    return ofRemovable(mustGo)(facts, context);
  },
};

/** Of what has to be removed, if anything has. */
function ofRemovable(judge: (removable: readonly Removable[], facts: OwnersJudged, context: Context) => Verdict): OwnersCheck['judge'] {
  return (facts, context) => {
    const removable = removableIn(facts);
    if (removable === undefined) return notApplicable(NO_CHANGE);
    return removable.length === 0 ? ok(NONE_TO_REMOVE) : judge(removable, facts, context);
  };
}

export function manifestVerdict(evidence: readonly Evidence[]): Verdict {
  if (evidence.length === 0) return ok('no applied manifest names an owner whose UID changes');
  return failed(
    `the manifests of ${counted(evidence.length, 'object')}, as kubectl applied them, name owners by their old UIDs: ${listed(evidence.map(({ text }) => text))}`,
    'Remove metadata.ownerReferences from these manifests. Applied again, they would restore a UID that no longer exists, and garbage collection would delete the objects.',
    { evidence, next: command`kubectl netsvc-upgrade ownerrefs list` },
  );
}

/** NS-741 of the stages after the upgrade. */
export function searchedAgain({ idle, unread }: Pick<RestoreJudged, 'idle' | 'unread'>, { profile }: Context): Verdict {
  return idle ? notApplicable('no reference is recorded as removed') : searched({ unread, kinds: 0 }, profile);
}
