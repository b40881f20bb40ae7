import assert from 'node:assert/strict';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import type { KeptChanges } from '../../src/kernel/action.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { changeTo } from '../../src/kernel/object-change.ts';
import { CARRIED_PART, type CarriedEdits } from '../../src/manifest/carried-file.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { INJECTION, meshObjects, NEW, OLD, templateOf } from '../support/mesh-objects.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox, performIn, sandboxPorts } from '../support/sandbox-ports.ts';

const GRANT = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'evil' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ kind: 'ServiceAccount', namespace: 'default', name: 'attacker' }],
} as KubeObject;

async function commanded(scenario: Scenario, ...argv: readonly string[]) {
  const bench = sandboxCommand(scenario);
  const exit = await bench.run(...argv);
  return { exit, said: bench.out() + bench.err() };
}

/** A run that another machine began and that was killed at its first change, with one object more in what it carries. */
async function begunElsewhere(): Promise<Scenario> {
  const scenario = await installedSandbox({ nodes: 1 });
  const { cluster, state } = scenario;
  cluster.faults.plan({ at: 2, kill: 'after' });
  await performIn(scenario, [applyStage]).catch(() => undefined);
  assert.ok(cluster.faults.killed);
  sandboxPorts(scenario);
  const [id = '', text = ''] = [...state.kept].find(([one]) => one.includes(CARRIED_PART)) ?? assert.fail('no edits were kept');
  const carried = JSON.parse(text) as CarriedEdits;
  const { 'upgrade.yaml': file = { release: 'x', merged: 'y', changed: [], removed: [] } } = carried.files;
  const files = { ...carried.files, 'upgrade.yaml': { ...file, merged: 'z', changed: [...file.changed, GRANT] } };
  state.kept.set(id, JSON.stringify({ ...carried, files }));
  return scenario;
}

describe('edits that another machine kept', () => {
  let scenario: Scenario;
  beforeEach(async () => {
    scenario = await begunElsewhere();
    scenario.state.keptElsewhere = true;
  });
  const evil = () => scenario.cluster.store.get(K.ClusterRoleBinding, 'evil');

  for (const flags of [[], ['--accept', 'NS-014'], ['--accept', 'NS-014=ClusterRoleBinding/other']])
    it(`are named object by object, and not applied with --yes ${flags.join(' ')}`.trim(), async () => {
      const { exit, said } = await commanded(scenario, 'apply', '--yes', ...flags);
      assert.equal(exit, 3, said);
      assert.match(said, /NS-014 the run was begun on another machine, and \d+ objects? with its edits would be applied/);
      assert.match(said, /- ClusterRoleBinding\/evil: would be created/);
      assert.match(said, /accept each by its name/);
      assert.equal(evil(), undefined);
    });

  it('are applied once each of them is accepted by its name', async () => {
    const accept = ['--accept', 'NS-014=ClusterRoleBinding/evil'];
    const { exit, said } = await commanded(scenario, 'apply', '--yes', ...accept);
    assert.equal(exit, 0, said);
    assert.ok(evil());
  });

  it('are applied without a word where this machine kept them', async () => {
    delete scenario.state.keptElsewhere;
    const { exit, said } = await commanded(scenario, 'apply', '--yes');
    assert.equal(exit, 0, said);
    assert.doesNotMatch(said, /NS-014/);
    assert.ok(evil());
  });

  it('ask nothing where they are applied already', async () => {
    delete scenario.state.keptElsewhere;
    assert.equal((await commanded(scenario, 'apply', '--yes')).exit, 0);
    scenario.state.keptElsewhere = true;
    const { exit, said } = await commanded(scenario, 'apply', '--yes');
    assert.deepEqual([exit, /NS-014/.test(said)], [0, false], said);
  });
});

describe('a former sidecar template that another machine kept', () => {
  const EVIL = 'templates:\n  - name: evil\n    image: evil\n    securityContext: {privileged: true}\n';
  const NAME = `ConfigMap/${INJECTION.namespace}/${INJECTION.configMap}`;

  async function meshed(former: string): Promise<Scenario> {
    const scenario = await installedSandbox({ nodes: 1, installed: NEW });
    for (const object of meshObjects(templateOf(NEW)) as readonly KubeObject[])
      scenario.cluster.store.insert(object.kind === 'ConfigMap' ? K.ConfigMap : K.Deployment, object);
    const map = scenario.cluster.store.get(K.ConfigMap, INJECTION.configMap, INJECTION.namespace) ?? assert.fail();
    const kept: KeptChanges = { changes: [changeTo({ ...map, data: { config: former } }, { '/data/config': templateOf(NEW) })] };
    scenario.state.kept.set(`20251121T020000Z-00000000/alp/template-x#1`, JSON.stringify(kept));
    return scenario;
  }
  const configOf = ({ cluster }: Scenario) =>
    (cluster.store.get(K.ConfigMap, INJECTION.configMap, INJECTION.namespace)?.data as Readonly<Record<string, string>> | undefined)
      ?.config;

  for (const flags of [[], ['--accept', 'NS-015']])
    it(`is named, and not written with --yes ${flags.join(' ')}`.trim(), async () => {
      const scenario = await meshed(EVIL);
      scenario.state.keptElsewhere = true;
      const { exit, said } = await commanded(scenario, 'alp', '--undo', '--yes', ...flags);
      assert.equal(exit, 3, said);
      assert.match(said, new RegExp(`NS-015 another machine kept the former template that would be restored: ${NAME}`));
      assert.equal(configOf(scenario), templateOf(NEW));
    });

  it('is written once the injector is accepted by its name', async () => {
    const scenario = await meshed(templateOf(OLD));
    scenario.state.keptElsewhere = true;
    const { exit, said } = await commanded(scenario, 'alp', '--undo', '--yes', '--accept', `NS-015=${NAME}`);
    assert.equal(exit, 0, said);
    assert.equal(configOf(scenario), templateOf(OLD));
  });

  it('is written without a word where this machine kept it', async () => {
    const scenario = await meshed(templateOf(OLD));
    const { exit, said } = await commanded(scenario, 'alp', '--undo', '--yes');
    assert.deepEqual([exit, configOf(scenario)], [0, templateOf(OLD)], said);
  });
});
