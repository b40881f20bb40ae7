import assert from 'node:assert/strict';
import { hepStage } from '../../src/features/hosts/stage.ts';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import type { KeptChanges } from '../../src/kernel/action.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { changeTo } from '../../src/kernel/object-change.ts';
import { CARRIED_PART, type CarriedEdits } from '../../src/manifest/carried-file.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { upgraded } from '../support/hep-sandbox.ts';
import { INJECTION, meshObjects, NEW, templateOf } from '../support/mesh-objects.ts';
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

describe('edits that the run carries', () => {
  it('are shown in the plan before they are written, whoever put them there', async () => {
    const scenario = await begunElsewhere();
    const evil = () => scenario.cluster.store.get(K.ClusterRoleBinding, 'evil');
    const { exit, said } = await commanded(scenario, 'apply', '--dry-run=client');
    assert.equal(exit, 0, said);
    assert.match(said, /create +ClusterRoleBinding\/evil|ClusterRoleBinding\/evil +create/);
    assert.equal(evil(), undefined);
    const done = await commanded(scenario, 'apply', '--yes');
    assert.equal(done.exit, 0, done.said);
    assert.ok(evil());
  });
});

describe('a former sidecar template that was kept', () => {
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

  it('is shown in the plan before it is written, whoever put it there', async () => {
    const scenario = await meshed(EVIL);
    const { exit, said } = await commanded(scenario, 'alp', '--undo', '--dry-run=client', '-o', 'wide');
    assert.equal(exit, 0, said);
    assert.match(said, new RegExp(NAME));
    assert.match(said, /evil/);
    assert.equal(configOf(scenario), templateOf(NEW));
    const done = await commanded(scenario, 'alp', '--undo', '--yes');
    assert.deepEqual([done.exit, configOf(scenario)], [0, EVIL], done.said);
  });
});

describe('host endpoints that a migration deleted', () => {
  it('are shown in the plan of hep --undo before they are created again', async () => {
    const scenario = await upgraded(2);
    assert.equal((await performIn(scenario, [hepStage], { yes: true })).exit, 'done');
    const { said } = await commanded(scenario, 'hep', '--undo', '--dry-run=client');
    assert.match(said, /host endpoint old-1 again.*node node-01, addresses 10\.0\.0\.1, profiles none, labels role=host/);
  });
});
