import assert from 'node:assert/strict';
import { policyStage } from '../../src/features/chain.ts';
import type { KeptChanges } from '../../src/kernel/action.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { Kind, KubeObject } from '../../src/kernel/object.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import { objectsIn, parseManifest } from '../../src/manifest/manifest.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { kindOf, put } from '../support/hep-sandbox.ts';
import { type Flags, installedSandbox, performIn, sandboxPorts } from '../support/sandbox-ports.ts';
import { NETSVC_TARGET } from '../support/target.ts';

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

/** Files of copies, in the folder of the backup. */
const copies = ({ files, workFolder }: Scenario) =>
  files.below(workFolder).filter((file) => /\/backup-[^/]+\/allow-all-upgrade-[^/]+\.yaml$/.test(file));

async function upgraded(temporary = true, installed = NETSVC_TARGET): Promise<Scenario> {
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
    assert.match(String(action?.effect.type === 'ask' ? action.effect.instruction : ''), /policy --delete=allow-all-upgrade/);
    assert.deepEqual(policies(scenario), [NAME, 'mine']);
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

  it('deletes it when told by name, once a copy is written, and writes nothing the second time', async () => {
    const scenario = await upgraded();
    const { policy } = stored(scenario);
    const outcome = await run(scenario, { delete: NAME });
    assert.deepEqual([outcome.exit, policies(scenario)], ['done', ['mine']]);
    const [file = ''] = copies(scenario);
    assert.equal(outcome.stages[0]?.because, `copied to ${file}; to create it again: kubectl apply --server-side -f ${file}`);
    const [copy] = objectsIn(parseManifest(scenario.files.text(file) ?? '', file));
    assert.deepEqual([copy?.metadata.name, copy?.spec, copy?.metadata.uid], [NAME, policy.spec, undefined]);
    const again = await run(scenario, { delete: NAME });
    assert.deepEqual([again.exit, again.writes], ['done', 0]);
  });

  it('records it before it is deleted, whole', async () => {
    const scenario = await upgraded();
    const { policy } = stored(scenario);
    await run(scenario, { delete: NAME });
    const kept = await sandboxPorts(scenario).records.keptWith('/policy/');
    assert.deepEqual(
      kept.flatMap(({ content }) => (content as KeptChanges).changes.map(({ before }) => before[''])),
      [policy],
    );
  });

  it('keeps one that somebody changes after it was read, copies it again and deletes that', async () => {
    const scenario = await upgraded();
    const { cluster } = scenario;
    const { kind, policy } = stored(scenario);
    const ports = sandboxPorts(scenario);
    let isChanged = false;
    const remove: typeof ports.cluster.remove = async (...all) => {
      if (!isChanged) cluster.store.update(kind, { ...policy, spec: { ...(policy.spec as object), order: 7 } });
      isChanged = true;
      await ports.cluster.remove(...all);
    };
    const outcome = await performIn(
      scenario,
      [policyStage],
      { delete: NAME },
      { profile, ports: { ...ports, cluster: { ...ports.cluster, remove } } },
    );
    assert.deepEqual([outcome.exit, policies(scenario)], ['done', ['mine']]);
    const orders = copies(scenario).map((file) => /order: 7/.test(scenario.files.text(file) ?? ''));
    assert.deepEqual(orders.toSorted(), [false, true]);
  });

  it('deletes it before the upgrade', async () => {
    const scenario = await upgraded(true, 'v3.26.4');
    assert.equal((await run(scenario, { delete: NAME })).exit, 'done');
    assert.deepEqual(policies(scenario), ['mine']);
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

  it('comes to the same end wherever it is killed, and a copy of all that is gone was written first', async () => {
    const twice = async () => {
      const scenario = await upgraded();
      put(scenario, 'GlobalNetworkPolicy', `default.${NAME}`, { selector: 'has(old)', types: ['Ingress'], ingress: [{ action: 'Allow' }] });
      return scenario;
    };
    const whole = await twice();
    const first = whole.cluster.faults.writes;
    await run(whole, { delete: NAME });
    assert.ok(whole.cluster.faults.writes > first + 1);
    for (let at = first + 1; at <= whole.cluster.faults.writes; at += 1) {
      for (const kill of ['before', 'after'] as const) {
        const scenario = await twice();
        scenario.cluster.faults.plan({ at, kill });
        await run(scenario, { delete: NAME }).catch(() => undefined);
        const copied = copies(scenario).map((file) => scenario.files.text(file) ?? '');
        const left = policies(scenario);
        for (const name of [NAME, `default.${NAME}`])
          assert.ok(left.includes(name) || copied.some((text) => text.includes(`name: ${name}\n`)), `${name}, killed ${kill} write ${at}`);
        assert.equal((await run(scenario, { delete: NAME })).exit, 'done');
        assert.deepEqual(policies(scenario), ['mine']);
      }
    }
  });
});
