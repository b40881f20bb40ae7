import type { OwnersJudged } from '../../../src/features/ownerrefs/owner-facts.ts';
import type { Removal } from '../../../src/features/ownerrefs/removal-rule.ts';
import type { PreflightFacts } from '../../../src/features/survey/facts.ts';
import { contextOf, found } from '../../fixtures/facts.ts';
import { checkCases } from '../../support/judged-worlds.ts';

interface Searched {
  readonly removal?: Removal | undefined;
  readonly writtenBy?: string;
  readonly unread?: readonly string[];
  readonly more?: Partial<OwnersJudged>;
}

const owned = (
  apiVersion: string,
  kind: string,
  { writtenBy, unread = [], more, ...searched }: Searched = {},
): Pick<PreflightFacts, 'owners'> => {
  const reference = { apiVersion, kind, name: 'o', uid: 'u' };
  const written = writtenBy && { writtenBy: { manager: writtenBy, operation: 'Update', time: '2026-11-22T13:00:00Z' } };
  const removal = 'removal' in searched ? searched.removal : 'uid-change';
  const fate = { place: 0, reference, owner: { name: 'o' }, ...(removal ? { removal } : {}), ...(written || {}) } as const;
  const object = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'a', name: 'x', uid: 'x', plural: 'configmaps' };
  const objects = [{ owned: { object, references: [reference] }, fates: [fate] }];
  const references = { objects, unread: unread.map((one) => ({ kind: one, because: 'forbidden' })), kinds: 40 };
  return { owners: { value: { references, recorded: [], ...more } } };
};
const v3 = 'projectcalico.org/v3';
const since = (release: string) => ({ detection: found({ release }) });
const before = since('v3.26.5');

checkCases('NS-701', {
  'passes if nothing is owned': { is: 'ok', says: /40 kinds/ },
  'is expected across the UID change where only what is there is looked at: run takes them off': {
    facts: { ...owned(v3, 'NetworkSet'), ...before },
    is: 'expected',
    says: /1 object in 1 namespace owned by NetworkSet\/o: .*; run removes these ownerReferences first and restores them/,
    about: ['ConfigMap/a/x'],
    next: /ownerrefs strip/,
  },
  'warns where a controller wrote one that run will remove, and names it': {
    facts: { ...owned(v3, 'NetworkSet', { writtenBy: 'shop-operator' }), ...before },
    is: 'warning',
    hint: /^Field manager shop-operator wrote these references\. If it puts them back, run stops before it upgrades anything\./,
    details: [/, written by shop-operator \(Update\) at 2026-11-22T13:00:00Z$/],
    next: /^kubectl get deployments,statefulsets --all-namespaces -o wide$/,
  },
  'does not where kubectl wrote it': { facts: { ...owned(v3, 'NetworkSet', { writtenBy: 'kubectl-create' }), ...before }, is: 'expected' },
  'fails across it in a run that takes none off': {
    facts: { ...owned(v3, 'NetworkSet'), ...before },
    context: { ...contextOf(), chain: { pending: [], onlyPlanned: false, later: ['apply'] } },
    is: 'error',
    next: /ownerrefs strip/,
  },
  'does not apply where nothing was searched': {
    facts: { owners: { value: { references: undefined, recorded: [] } }, ...since('v3.32.0') },
    is: 'not-applicable',
  },
  'says in key-value mode that no UID changes, and is no reason to stop': {
    facts: { ...owned(v3, 'NetworkSet', { removal: 'key-value' }), ...before },
    context: { ...contextOf(), chain: { pending: [], onlyPlanned: false, later: ['apply'] } },
    is: 'warning',
    says: /: UIDs stay in a key-value store, and the procedure has these references removed all the same$/,
  },
  'has nothing to warn of there where run removes them, whoever wrote them': {
    facts: { ...owned(v3, 'NetworkSet', { removal: 'key-value', writtenBy: 'shop-operator' }), ...before },
    is: 'expected',
    next: /ownerrefs strip/,
  },
  'is expected where this run takes them off': {
    facts: { ...owned(v3, 'IPPool'), ...before },
    context: { ...contextOf(), chain: { pending: [], onlyPlanned: false, later: ['ownerrefs-strip'] } },
    is: 'expected',
  },
  'passes where none of what is owned is removed': {
    facts: { ...owned(v3, 'NetworkSet', { removal: undefined }), ...before },
    is: 'ok',
  },
});

checkCases('NS-741', {
  'passes if every kind was searched': { is: 'ok', says: /40 kinds/ },
  'names each kind that could not be searched': {
    facts: owned(v3, 'IPPool', { unread: ['secrets'] }),
    is: 'error',
    about: ['secrets'],
  },
  'says that the API is not available, and does not offer to accept that': {
    facts: owned(v3, 'IPPool', { unread: ['projectcalico.org'] }),
    is: 'error',
    says: /projectcalico\.org is not available/,
    next: /^kubectl describe apiservice v3\.projectcalico\.org$/,
  },
  'expects that of a run that has applied the target': {
    facts: owned(v3, 'IPPool', { unread: ['projectcalico.org'], more: { apiReplaced: true } }),
    is: 'expected',
  },
  'does not apply where nothing was searched': {
    facts: { owners: { value: { references: undefined, recorded: [] } } },
    is: 'not-applicable',
  },
});

const rights = (isEnforced: boolean | undefined): Pick<PreflightFacts, 'owners'> => {
  const patch = { verb: 'patch', group: '', resource: 'secrets', namespace: 'default' };
  const remove = { verb: 'delete', group: '', resource: 'secrets', namespace: 'default' };
  const found = { denied: isEnforced === undefined ? [] : [patch], enforced: [remove], isEnforced };
  return owned(v3, 'NetworkSet', { more: { rights: found } });
};

checkCases('NS-754', {
  'does not apply where no UID changes': { facts: owned(v3, 'IPPool'), is: 'not-applicable' },
  'asks for what cannot be restored without': {
    facts: rights(false),
    is: 'error',
    about: ['patch secrets in default'],
    next: /^kubectl auth can-i patch secrets -n default$/,
  },
  'only warns of what the API server may not ask for': { facts: rights(undefined), is: 'warning', about: ['delete secrets in default'] },
});
