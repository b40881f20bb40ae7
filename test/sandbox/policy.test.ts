import assert from 'node:assert/strict';
import { policyStage } from '../../src/features/chain.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { Kind, KubeObject } from '../../src/kernel/object.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import { storedMetadata } from '../../src/kube/stored-metadata.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { kindOf, put } from '../support/hep-sandbox.ts';
import { type Flags, installedSandbox, performIn } from '../support/sandbox-ports.ts';

const NAME = 'allow-all-upgrade';

/** The service puts the tier before the names of stored policies, or did. */
const profile: Profile = {
  ...netsvc,
  policyRenaming: { since: 'v3.32.0', prefix: 'default.', switchField: 'spec.controllers.policyMigration.enabled' },
};

const run = (scenario: Scenario, flags: Flags = {}) => performIn(scenario, [policyStage], flags, { profile });

function policies({ cluster }: Scenario): readonly string[] {
  const kind = kindOf(cluster, 'globalnetworkpolicies');
  return cluster.store.list(kind).map(({ metadata }) => metadata.name);
}

function stored({ cluster }: Scenario): { readonly kind: Kind; readonly policy: KubeObject } {
  const kind = kindOf(cluster, 'globalnetworkpolicies');
  const policy = cluster.store.get(kind, NAME);
  assert.ok(policy);
  return { kind, policy };
}

async function upgraded(temporary = true, installed = 'v3.32.2'): Promise<Scenario> {
  const scenario = await installedSandbox({ nodes: 1, installed });
  const allow = [{ action: 'Allow' }];
  if (temporary)
    put(scenario, 'GlobalNetworkPolicy', NAME, { selector: 'has(old)', types: ['Ingress', 'Egress'], ingress: allow, egress: allow });
  const some = [{ action: 'Allow', protocol: 'TCP' }];
  put(scenario, 'GlobalNetworkPolicy', 'mine', { selector: 'has(role)', types: ['Ingress', 'Egress'], ingress: some, egress: some });
  put(scenario, 'HostEndpoint', 'policed', { node: 'node-01', interfaceName: '*' }, { old: '', role: 'host' });
  return scenario;
}

describe('policy on the sandbox', () => {
  it('has nothing to do without the temporary policy', async () => {
    const scenario = await upgraded(false);
    const outcome = await run(scenario);
    assert.deepEqual([outcome.exit, outcome.writes], ['done', 0]);
  });

  it('asks for a review, names the command, and deletes nothing by itself', async () => {
    const scenario = await upgraded();
    const outcome = await run(scenario);
    assert.deepEqual([outcome.exit, outcome.writes], ['done', 0]);
    const [action] = outcome.plans.flatMap(({ actions }) => actions);
    assert.match(action?.effect.type === 'ask' ? action.effect.instruction : '', /policy --delete=allow-all-upgrade/);
    assert.ok(outcome.findings.some(({ id, outcome: is }) => id === 'NS-722' && is === 'warning'));
    assert.deepEqual(policies(scenario), [NAME, 'mine']);
  });

  it('names the first of many policies that would decide, and all of them where everything is asked for', async () => {
    const scenario = await upgraded();
    for (const name of ['p1', 'p2', 'p3', 'p4']) put(scenario, 'GlobalNetworkPolicy', name, { selector: 'has(role)', types: ['Ingress'] });
    const [one] = (await run(scenario)).findings.find(({ id }) => id === 'NS-722')?.evidence ?? [];
    assert.match(one?.detail ?? '', /^ingress: policies mine, p1, p2, p3, p4, else deny; /);
    assert.match(one?.brief ?? '', /^ingress: policies mine, p1, p2 and 2 more, else deny; /);
  });

  it('refuses another name', async () => {
    const scenario = await upgraded();
    assert.equal((await run(scenario, { delete: 'mine' })).exit, 'usage');
    assert.deepEqual(policies(scenario), [NAME, 'mine']);
  });

  it('refuses to cut a host off until it is accepted by name', async () => {
    const scenario = await upgraded();
    put(scenario, 'HostEndpoint', 'bare', { node: 'node-01', interfaceName: '*' }, { old: '' });
    const refused = await run(scenario, { delete: NAME });
    assert.equal(refused.exit, 'blocked');
    assert.deepEqual(
      refused.findings.find(({ id }) => id === 'NS-721')?.evidence.map(({ text }) => text),
      ['HostEndpoint/bare'],
    );
    assert.deepEqual(policies(scenario), [NAME, 'mine']);
    assert.equal((await run(scenario, { delete: NAME, accept: ['NS-721=HostEndpoint/bare'] })).exit, 'done');
    assert.deepEqual(policies(scenario), ['mine']);
  });

  it('refuses where a policy that allows nothing is all that would be left', async () => {
    const scenario = await upgraded();
    put(scenario, 'HostEndpoint', 'bare', { node: 'node-01', interfaceName: '*' }, { old: '' });
    put(scenario, 'GlobalNetworkPolicy', 'default-deny', { selector: 'all()', types: ['Ingress', 'Egress'] });
    const refused = await run(scenario, { delete: NAME });
    assert.equal(refused.exit, 'blocked');
    assert.deepEqual(refused.findings.find(({ id }) => id === 'NS-721')?.evidence, [
      { text: 'HostEndpoint/bare', detail: 'ingress: policy default-deny, else deny; egress: policy default-deny, else deny' },
    ]);
    assert.deepEqual(policies(scenario), [NAME, 'default-deny', 'mine']);
  });

  it('deletes it when told by name, writes nothing the second time, and puts it back', async () => {
    const scenario = await upgraded();
    assert.equal((await run(scenario, { delete: NAME })).exit, 'done');
    assert.deepEqual(policies(scenario), ['mine']);
    const again = await run(scenario, { delete: NAME });
    assert.deepEqual([again.exit, again.writes], ['done', 0]);
    assert.equal((await run(scenario, { undo: true })).exit, 'done');
    assert.deepEqual(policies(scenario), [NAME, 'mine']);
  });

  it('deletes it and puts it back before the upgrade, with the CLI of the installed release', async () => {
    const scenario = await upgraded(true, 'v3.26.4');
    assert.equal((await run(scenario, { delete: NAME })).exit, 'done');
    assert.deepEqual(policies(scenario), ['mine']);
    assert.equal((await run(scenario, { undo: true })).exit, 'done');
    assert.deepEqual(policies(scenario).length, 2);
  });

  it('names what garbage collection would delete with it, and deletes it when that is accepted', async () => {
    const scenario = await upgraded();
    const { policy } = stored(scenario);
    const owner = { apiVersion: 'crd.netsvc.io/v1', kind: policy.kind, name: NAME, uid: policy.metadata.uid ?? '' };
    const metadata = { name: 'config', namespace: 'default', ownerReferences: [owner] };
    scenario.cluster.store.insert(K.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
    const refused = await run(scenario, { delete: NAME });
    assert.equal(refused.exit, 'blocked');
    const owned = refused.findings.find(({ id }) => id === 'NS-726')?.evidence.map(({ text }) => text);
    assert.deepEqual([owned, policies(scenario)], [['ConfigMap/default/config'], [NAME, 'mine']]);
    assert.equal((await run(scenario, { delete: NAME, accept: ['NS-726=ConfigMap/default/config'] })).exit, 'done');
    assert.deepEqual(policies(scenario), ['mine']);
  });

  it('puts back what the latest removal saw, not what an earlier one did that was taken back before', async () => {
    const scenario = await upgraded();
    const { cluster } = scenario;
    const selector = () => (stored(scenario).policy.spec as { readonly selector: string }).selector;
    await run(scenario, { delete: NAME });
    await run(scenario, { undo: true });
    const { kind, policy } = stored(scenario);
    cluster.store.update(kind, { ...policy, spec: { ...(policy.spec as object), selector: 'has(few)' } });
    await run(scenario, { delete: NAME });
    assert.equal((await run(scenario, { undo: true })).exit, 'done');
    assert.deepEqual([policies(scenario), selector()], [[NAME, 'mine'], 'has(few)']);
  });

  it('puts it back with its labels and annotations, wherever the release stored them', async () => {
    const scenario = await upgraded(false);
    const { cluster } = scenario;
    const kind = kindOf(cluster, 'globalnetworkpolicies');
    const json = JSON.stringify({ labels: { tier: 'one' }, annotations: { note: 'new', owner: 'team-a' } });
    const metadata = { name: NAME, labels: { team: 'x' }, annotations: { note: 'old', ticket: '7', 'netsvc.io/metadata': json } };
    cluster.store.insert(kind, { apiVersion: 'crd.netsvc.io/v1', kind: kind.kind, metadata, spec: { selector: 'has(old)' } });
    assert.equal((await run(scenario, { delete: NAME })).exit, 'done');
    assert.equal((await run(scenario, { undo: true })).exit, 'done');
    const back = cluster.store.get(kind, NAME);
    assert.ok(back);
    const { labels, annotations } = storedMetadata(back, 'netsvc.io');
    assert.deepEqual(
      [labels, annotations],
      [
        { team: 'x', tier: 'one' },
        { note: 'new', ticket: '7', owner: 'team-a' },
      ],
    );
  });

  it('comes to the same end wherever it is killed, and the policy can be put back', async () => {
    const whole = await upgraded();
    const first = whole.cluster.faults.writes;
    await run(whole, { delete: NAME });
    for (let at = first + 1; at <= whole.cluster.faults.writes; at += 1) {
      for (const kill of ['before', 'after'] as const) {
        const scenario = await upgraded();
        scenario.cluster.faults.plan({ at, kill });
        await run(scenario, { delete: NAME }).catch(() => undefined);
        assert.equal((await run(scenario, { delete: NAME })).exit, 'done');
        assert.deepEqual(policies(scenario), ['mine']);
        assert.equal((await run(scenario, { undo: true })).exit, 'done');
        assert.deepEqual(policies(scenario), [NAME, 'mine']);
      }
    }
  });

  describe('that is stored under two names', () => {
    const TWIN = `default.${NAME}`;
    const allow = [{ action: 'Allow' }];
    const both = { types: ['Ingress', 'Egress'], ingress: allow, egress: allow };
    const specs = { [TWIN]: { selector: 'has(older)', ...both }, [NAME]: { selector: 'has(old)', ...both } };
    const selectors = ({ cluster }: Scenario) => {
      const kind = kindOf(cluster, 'globalnetworkpolicies');
      const all = cluster.store.list(kind);
      return Object.fromEntries(all.map(({ metadata, spec }) => [metadata.name, (spec as { selector: string }).selector]));
    };
    async function twice(older: object = specs[TWIN] ?? {}): Promise<Scenario> {
      const scenario = await upgraded();
      put(scenario, 'GlobalNetworkPolicy', TWIN, older);
      return scenario;
    }
    const start = { [NAME]: 'has(old)', [TWIN]: 'has(older)', mine: 'has(role)' };

    it('comes back as two where they differ, and stays so', async () => {
      const scenario = await twice();
      assert.equal((await run(scenario, { delete: NAME })).exit, 'done');
      assert.deepEqual(policies(scenario), ['mine']);
      assert.equal((await run(scenario, { undo: true })).exit, 'done');
      assert.deepEqual(selectors(scenario), start);
      const again = await run(scenario, { undo: true });
      assert.deepEqual([again.exit, again.writes], ['done', 0]);
    });

    it('comes back once where they say the same', async () => {
      const scenario = await twice(specs[NAME]);
      assert.equal((await run(scenario, { delete: NAME })).exit, 'done');
      assert.equal((await run(scenario, { undo: true })).exit, 'done');
      assert.deepEqual(selectors(scenario), { [NAME]: 'has(old)', mine: 'has(role)' });
    });

    /** Kills that command at each of its writes, after the others have run. */
    async function eachKill(flags: object, before: readonly object[], then: (scenario: Scenario) => Promise<void>): Promise<void> {
      const begun = async () => {
        const scenario = await twice();
        for (const one of before) await run(scenario, one);
        return scenario;
      };
      const whole = await begun();
      const first = whole.cluster.faults.writes;
      await run(whole, flags);
      for (let at = first + 1; at <= whole.cluster.faults.writes; at += 1) {
        for (const kill of ['before', 'after'] as const) {
          const scenario = await begun();
          scenario.cluster.faults.plan({ at, kill });
          await run(scenario, flags).catch(() => undefined);
          await then(scenario);
          assert.equal((await run(scenario, { undo: true })).exit, 'done');
          assert.deepEqual(selectors(scenario), start, `killed ${kill} write ${at}`);
        }
      }
    }

    it('comes back whole wherever the removal is killed and goes on', () =>
      eachKill({ delete: NAME }, [], async (scenario) => {
        assert.equal((await run(scenario, { delete: NAME })).exit, 'done');
        assert.deepEqual(policies(scenario), ['mine']);
      }));

    it('comes back whole wherever the removal is killed, and is not gone on with', () =>
      eachKill({ delete: NAME }, [], async () => undefined));

    it('comes back whole wherever the way back is killed', () => eachKill({ undo: true }, [{ delete: NAME }], async () => undefined));

    it('comes back whole where one removal failed and another ended it', async () => {
      const scenario = await twice();
      const first = scenario.cluster.faults.writes;
      const whole = await twice();
      await run(whole, { delete: NAME });
      for (let at = first + 1; at <= whole.cluster.faults.writes; at += 1) {
        const failing = await twice();
        failing.cluster.faults.plan({ at, status: 403 });
        await run(failing, { delete: NAME });
        assert.equal((await run(failing, { delete: NAME })).exit, 'done');
        assert.equal((await run(failing, { undo: true })).exit, 'done');
        assert.deepEqual(selectors(failing), start, `refused write ${at}`);
      }
    });

    it('is left alone where somebody made another since', async () => {
      const scenario = await twice();
      assert.equal((await run(scenario, { delete: NAME })).exit, 'done');
      put(scenario, 'GlobalNetworkPolicy', NAME, { selector: 'has(mine)', types: ['Ingress'] });
      const back = await run(scenario, { undo: true });
      assert.deepEqual([back.exit, back.writes], ['done', 0]);
    });
  });
});
