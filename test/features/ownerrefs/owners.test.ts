import type { OwnersJudged } from '../../../src/features/ownerrefs/owner-facts.ts';
import type { PreflightFacts } from '../../../src/features/survey/facts.ts';
import { contextOf, found } from '../../fixtures/facts.ts';
import { checkCases } from '../../support/judged-worlds.ts';

interface Searched {
  readonly breaks?: boolean;
  readonly writtenBy?: string;
  readonly unread?: readonly string[];
  readonly more?: Partial<OwnersJudged>;
}

const owned = (
  apiVersion: string,
  kind: string,
  { breaks = true, writtenBy, unread = [], more }: Searched = {},
): Pick<PreflightFacts, 'owners'> => {
  const reference = { apiVersion, kind, name: 'o', uid: 'u' };
  const written = writtenBy && { writtenBy: { manager: writtenBy, operation: 'Update', time: '2026-11-22T13:00:00Z' } };
  const fate = { place: 0, reference, owner: { name: 'o' }, fate: breaks ? 'converted' : 'kept', breaks, ...(written || {}) } as const;
  const object = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'a', name: 'x', uid: 'x', plural: 'configmaps' };
  const objects = [{ owned: { object, references: [reference] }, fates: [fate] }];
  const references = { objects, unread: unread.map((one) => ({ kind: one, because: 'forbidden' })), kinds: 40 };
  return { owners: { value: { references, recorded: [], ...more } } };
};
const v3 = 'projectcalico.org/v3';
const stored = 'crd.projectcalico.org/v1';
const since = (release: string) => ({ detection: found({ release }) });
const before = since('v3.26.5');

checkCases('NS-701', {
  'passes if nothing is owned': { is: 'ok', says: /40 kinds/ },
  'is expected across the UID change where only what is there is looked at: run takes them off': {
    facts: { ...owned(v3, 'NetworkSet'), ...before },
    is: 'expected',
    says: /1 object in 1 namespace owned by NetworkSet\/o.*v3\.28\.0: .*; run removes these ownerReferences first and restores them/,
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
  'fails where a policy is stored anew, whichever group is named': {
    facts: { ...owned(stored, 'NetworkPolicy'), ...since('v3.30.0') },
    is: 'expected',
    says: /v3\.32\.0/,
  },
  'does not apply if the renaming is held back': {
    facts: { ...owned(v3, 'NetworkPolicy', { breaks: false }), ...since('v3.30.0') },
    context: contextOf({ holdPolicyMigration: true }),
    is: 'not-applicable',
  },
  'does not apply within the line': {
    facts: { ...owned(v3, 'NetworkPolicy', { breaks: false }), ...since('v3.32.0') },
    is: 'not-applicable',
  },
  'is expected where this run takes them off': {
    facts: { ...owned(v3, 'IPPool'), ...before },
    context: { ...contextOf(), chain: { pending: [], onlyPlanned: false, later: ['ownerrefs-strip'] } },
    is: 'expected',
  },
  'but not where a person wants none removed': {
    facts: { ...owned(v3, 'IPPool'), ...before },
    context: { ...contextOf({ ownerrefs: 'never' }), chain: { pending: [], onlyPlanned: false, later: ['ownerrefs-strip'] } },
    is: 'error',
  },
  'goes by what was read of the owners rather than by releases': {
    facts: { ...owned(v3, 'NetworkSet', { breaks: false }), ...before },
    is: 'ok',
  },
  'goes by the release at which the run began': {
    facts: {
      ...owned(v3, 'NetworkSet'),
      ...since('v3.32.1'),
      record: { value: { clusterUid: 'cluster-1', target: 'v3.32.1', source: 'v3.27.4' } as never },
    },
    is: 'expected',
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
