import type { KubeObject } from '../../../src/kernel/object.ts';
import type { RunRecord } from '../../../src/kernel/run-record.ts';
import { netsvc } from '../../../src/profiles/netsvc.ts';
import { contextOf, found, object, resource, resources } from '../../fixtures/facts.ts';
import { checkCases } from '../../support/judged-worlds.ts';

const named = (name: string) => ({ annotations: { 'projectcalico.org/metadata': JSON.stringify({ name }) } });
const policy = (name: string, metadata = {}, spec = {}) => resource(`NetworkPolicy/a/${name}`, spec, metadata);

/** Annotations of what was written through the service's API. */
const SERVED = { annotations: { 'projectcalico.org/metadata': '{}' } };

checkCases('NS-503', {
  'passes if each is stored once': { facts: { resources: resources(policy('default.x'), policy('default.y')) }, is: 'ok' },
  'fails if one is stored under both names': {
    facts: { resources: resources(policy('default.x', SERVED), policy('x', SERVED), policy('y', SERVED)) },
    is: 'error',
    about: ['NetworkPolicy/a/default.x', 'NetworkPolicy/a/x'],
  },
  'fails with the rollback as the next step where that has stopped': {
    facts: {
      resources: resources(policy('default.x', SERVED), policy('x', SERVED)),
      record: { value: { intent: { kind: 'rollback', to: 'v3.26.4' } } as unknown as RunRecord },
    },
    is: 'error',
    hint: /finish it first/,
    next: /^kubectl netsvc-upgrade rollback$/,
  },
  'keeps a policy apart that is really called so': {
    facts: { resources: resources(policy('default.x', named('default.x')), policy('x')) },
    is: 'ok',
  },
  'leaves a stored object that was written by hand under its own name': {
    facts: { resources: resources(policy('default.x'), policy('x', SERVED)) },
    is: 'ok',
  },
  'keeps namespaces apart': { facts: { resources: resources(policy('default.x', SERVED), resource('NetworkPolicy/b/x')) }, is: 'ok' },
  'looks at the default tier only': {
    facts: { resources: resources(policy('default.x', SERVED, { tier: 'mine' }), policy('x')) },
    is: 'ok',
  },
  'does not apply to a service that renames none': { context: contextOf({}, netsvc), is: 'not-applicable' },
});

const KVSTORE = found({ path: 'kvstore', variant: 'calico-etcd', datastore: 'kvstore' });
const behindCli = (...temporaryPolicies: readonly KubeObject[]) => ({
  value: { temporaryPolicies, agentConfigurations: [], clusterInformation: [] },
});

checkCases('NS-706', {
  'passes without it': { is: 'ok' },
  'warns about it under its stored name': {
    facts: { resources: resources(resource('GlobalNetworkPolicy/default.allow-all-upgrade')) },
    is: 'warning',
    about: ['GlobalNetworkPolicy/default.allow-all-upgrade'],
    next: /policy$/,
  },
  'warns about it under its own name': {
    facts: { resources: resources(resource('GlobalNetworkPolicy/allow-all-upgrade')) },
    is: 'warning',
  },
  'warns about it behind the CLI of a key-value store': {
    facts: { detection: KVSTORE, inStore: behindCli(object('projectcalico.org/v3', 'GlobalNetworkPolicy/allow-all-upgrade')) },
    is: 'warning',
    about: ['GlobalNetworkPolicy/allow-all-upgrade'],
    next: /^calicoctl get globalnetworkpolicies -o yaml$/,
  },
  'shows it by the CLI’s configuration that this command was given: the usual one may lead to another store': {
    facts: { detection: KVSTORE, inStore: behindCli(object('projectcalico.org/v3', 'GlobalNetworkPolicy/allow-all-upgrade')) },
    context: contextOf({ cliConfig: '/home/me/store b.cfg' }),
    is: 'warning',
    next: /^calicoctl get globalnetworkpolicies -o yaml '--config=\/home\/me\/store b\.cfg'$/,
  },
  'passes if the CLI of a key-value store lists none, whatever the API has left over': {
    facts: {
      detection: KVSTORE,
      inStore: behindCli(),
      resources: resources(resource('GlobalNetworkPolicy/default.allow-all-upgrade')),
    },
    is: 'ok',
  },
  'says so if no CLI can be asked about a key-value store': {
    facts: { detection: KVSTORE, inStore: { unread: 'no calicoctl of v3.27 was found' } },
    is: 'warning',
    says: /no calicoctl of v3\.27 was found/,
  },
  'does not mind another of a like name': { facts: { resources: resources(resource('GlobalNetworkPolicy/allow-all')) }, is: 'ok' },
});

const pending = { resources: resources(policy('default.x', SERVED), policy('y', SERVED)) };

checkCases('NS-707', {
  'tells how many will be renamed': { facts: pending, is: 'ok', says: /^1 stored policy will be renamed/ },
  'tells that it is held back': { facts: pending, context: contextOf({ holdPolicyMigration: true }), is: 'ok', says: /held back/ },
  'tells that nothing is ever renamed where the agents are called otherwise than the controllers expect': {
    facts: {
      ...pending,
      detection: found({
        variant: 'canal',
        agent: { kind: 'DaemonSet', namespace: 'kube-system', name: 'canal', container: 'calico-node' },
      }),
    },
    is: 'ok',
    says: /^stored policies keep their names: the controllers wait for a DaemonSet calico-node .* are called canal$/,
  },
  'tells that those of a key-value store are renamed as well, and how many is not known': {
    facts: { ...pending, detection: found({ datastore: 'kvstore' }) },
    is: 'ok',
    says: /^policies in the key-value store will be renamed and keep their UIDs; a rollback needs their former names \(NS-762\)$/,
  },
  'tells that there is nothing to rename': { is: 'ok', says: /already/ },
  'does not apply within the line': { facts: { ...pending, detection: found({ release: 'v3.32.0' }) }, is: 'not-applicable' },
});
