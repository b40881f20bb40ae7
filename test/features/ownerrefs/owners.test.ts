import type { PreflightFacts } from '../../../src/features/survey/facts.ts';
import { netsvc } from '../../../src/profiles/netsvc.ts';
import { contextOf, found } from '../../fixtures/facts.ts';
import { runRecord } from '../../support/apply-bench.ts';
import { checkCases } from '../../support/judged-worlds.ts';

const owned = (apiVersion: string, kind: string, unread: readonly string[] = []): Pick<PreflightFacts, 'owners'> => ({
  owners: {
    value: {
      dependents: [
        {
          object: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'a', name: 'x' },
          owner: { apiVersion, kind, name: 'o', uid: 'u' },
        },
      ],
      unread: unread.map((one) => ({ kind: one, because: 'forbidden' })),
      kinds: 40,
    },
  },
});
const dependent = {
  object: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'a', name: 'x' },
  owner: { apiVersion: 'projectcalico.org/v3', kind: 'NetworkSet', name: 'o', uid: 'u' },
};
const written = (manager: string): Pick<PreflightFacts, 'owners'> => {
  const writtenBy = { manager, operation: 'Update', time: '2026-11-22T13:00:00Z' };
  return { owners: { value: { dependents: [{ ...dependent, breaks: true, writtenBy }], unread: [], kinds: 40 } } };
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
    facts: { ...written('shop-operator'), ...before },
    is: 'warning',
    hint: /^Field manager shop-operator wrote these references\. If it puts them back, run stops before it upgrades anything\./,
    details: [/, written by shop-operator \(Update\) at 2026-11-22T13:00:00Z$/],
    next: /^kubectl get deployments,statefulsets --all-namespaces -o wide$/,
  },
  'does not where kubectl wrote it': { facts: { ...written('kubectl-create'), ...before }, is: 'expected' },
  'fails across it in a run that takes none off': {
    facts: { ...owned(v3, 'NetworkSet'), ...before },
    context: { ...contextOf(), chain: { pending: [], onlyPlanned: false, later: ['apply'] } },
    is: 'error',
    next: /ownerrefs strip/,
  },
  'does not mind stored resources as owners there': { facts: { ...owned(stored, 'NetworkSet'), ...before }, is: 'ok' },
  'fails where a policy is stored anew, whichever group is named': {
    facts: { ...owned(stored, 'NetworkPolicy'), ...since('v3.30.0') },
    is: 'expected',
    says: /v3\.32\.0/,
  },
  'does not mind them from a release of an older line that has the new UIDs already': {
    facts: { ...owned(v3, 'NetworkSet'), ...since('v3.27.5') },
    is: 'ok',
  },
  'but does from the release before it': { facts: { ...owned(v3, 'NetworkSet'), ...since('v3.27.4') }, is: 'expected' },
  'does not mind other kinds there': { facts: { ...owned(v3, 'NetworkSet'), ...since('v3.30.0') }, is: 'ok' },
  'does not apply if the renaming is held back': {
    facts: { ...owned(v3, 'NetworkPolicy'), ...since('v3.30.0') },
    context: contextOf({ holdPolicyMigration: true }),
    is: 'not-applicable',
  },
  'does not apply within the line': { facts: { ...owned(v3, 'NetworkPolicy'), ...since('v3.32.0') }, is: 'not-applicable' },
  'does not apply after v3.28 to a service that renames none': {
    facts: { ...owned('netsvc.io/v3', 'NetworkPolicy'), ...since('v3.28.0') },
    context: contextOf({}, netsvc),
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
    facts: { owners: { value: { dependents: [{ ...dependent, breaks: false }], unread: [], kinds: 40 } }, ...before },
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
    facts: owned(v3, 'IPPool', ['secrets']),
    is: 'error',
    about: ['secrets'],
  },
  'says that the API is not available, and does not offer to accept that': {
    facts: owned(v3, 'IPPool', ['projectcalico.org']),
    is: 'error',
    says: /projectcalico\.org is not available/,
    next: /^kubectl describe apiservice v3\.projectcalico\.org$/,
  },
  'expects that of a run that has applied the target': {
    facts: {
      ...owned(v3, 'IPPool', ['projectcalico.org']),
      record: { value: runRecord({ clusterUid: 'cluster-1', target: contextOf().options.release, wrote: ['apply'] }) },
    },
    is: 'expected',
  },
  'does not apply where nothing was searched': {
    facts: { owners: { value: { dependents: [], unread: [], kinds: 0 } } },
    is: 'not-applicable',
  },
});

const rights = (isEnforced: boolean | undefined): Pick<PreflightFacts, 'owners'> => {
  const patch = { verb: 'patch', group: '', resource: 'secrets', namespace: 'default' };
  const remove = { verb: 'delete', group: '', resource: 'secrets', namespace: 'default' };
  const found = { denied: isEnforced === undefined ? [] : [patch], enforced: [remove], isEnforced };
  return { owners: { value: { dependents: [dependent], unread: [], kinds: 40, rights: found } } };
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
