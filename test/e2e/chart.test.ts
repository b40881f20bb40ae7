import assert from 'node:assert/strict';
import { join } from 'node:path';
import { flagsOf, sharedChartCluster } from '../support/chart-cluster.ts';
import { assertWritesNothing } from '../support/installed-cluster.ts';
import { asAnybodyElse, misleadingMachine, programRequests } from '../support/misleading.ts';
import { assertOneByOne, slowTool } from '../support/slow-kubectl.ts';
import { CALICO_TARGET } from '../support/target.ts';
import { assertSucceeded, told, upgrade } from '../support/upgrade-process.ts';

/** The whole chain; no CLI is there to be changed. */
const RUN = ['run', '--yes', '--skip', 'cli'] as const;

/** One story, in order: a refusal (the others are in `npm run test:full`), the plan, the upgrade cut off in the middle, and the end. */
describe('the upgrade of a chart release with helm 3, CRDs first, on a real control plane', function () {
  this.timeout(280_000);

  const cluster = sharedChartCluster(3, { operator: { mode: 'well', pace: 0.1 }, plane: { audit: 'requests' } });

  const revision = async () => (JSON.parse(await cluster.helm('list', '-A', '-o', 'json')) as readonly Record<string, string>[])[0] ?? {};

  it('asks as the user whom the flags name, and helm with it', async () => {
    await cluster.plane.kubectl(['create', 'clusterrolebinding', 'upgraders', '--clusterrole=cluster-admin', '--group=upgraders']);
    const before = (await programRequests(cluster.plane)).length;
    // Whatever else helm would look at leads to a server that counts who comes.
    const machine = await misleadingMachine(cluster.plane, join(cluster.around.home, 'misled'));
    const env = { ...cluster.around.env, ...machine.env };
    const as = ['--as', 'ann', '--as-group', 'upgraders'];
    const flags = [...flagsOf(cluster), '--kubeconfig', cluster.around.kubeconfig, '--skip', 'cli', ...as];
    const result = await upgrade(['plan', ...flags], { ...cluster.around, home: machine.home, env });
    const visits = machine.visits();
    await machine.stop();
    assert.equal(visits, 0, told(result));
    assertSucceeded(result);
    const requests = (await programRequests(cluster.plane)).slice(before);
    assert.ok(
      requests.some(({ userAgent }) => /^helm/i.test(userAgent ?? '')),
      'helm asked nothing',
    );
    assert.deepEqual(asAnybodyElse(requests, 'ann', 'upgraders'), []);
  });

  it('plans the very commands, and writes nothing', async () => {
    const before = await cluster.versions();
    const result = await cluster.upgrade('plan', ...flagsOf(cluster), '-o', 'wide');
    assertSucceeded(result);
    assert.match(result.stdout, /kubectl apply --server-side --force-conflicts -f \S+crd_projectcalico_org\.yaml/);
    assert.match(
      result.stdout,
      /helm upgrade calico \S+tigera-operator-v3\.32\.1-\w{12}\.tgz --version v3\.32\.1 --namespace tigera-operator --reset-then-reuse-values/,
    );
    const { exitCode, stdout } = await cluster.upgrade('plan', ...flagsOf(cluster), '--diff');
    assert.equal(exitCode, 0);
    assert.match(stdout, /^--- release\/(Deployment\/tigera-operator\/tigera-operator)\n\+\+\+ planned\/\1\n@@ /m);
    assert.equal(await cluster.versions(), before);
  });

  it('killed in the middle of helm, the same command waits for it and goes on', async () => {
    const slow = await slowTool(cluster.around, [...RUN, ...flagsOf(cluster)], { name: 'helm', real: cluster.tool, verb: 'upgrade' });
    const { child } = await slow.startHeld();
    child.kill('SIGKILL');
    await child;
    const next = slow.start();
    await next.says(/waiting for helm/);
    await slow.letGo();
    assertSucceeded(await next.child);
    assertOneByOne(await slow.takeLog());
    assert.deepEqual(
      [(await revision()).revision, (await revision()).status, (await revision()).chart],
      ['2', 'deployed', `tigera-operator-${CALICO_TARGET}`],
    );
  });

  it('has brought the CRDs, the new operator and all its components, and kept the values', async () => {
    assert.match(
      await cluster.read('deploy -n tigera-operator tigera-operator', '{.spec.template.spec.containers[0].image}'),
      /:v1\.42\.3$/,
    );
    assert.equal(
      await cluster.read('deploy -n tigera-operator tigera-operator', '{.spec.template.spec.containers[0].args}'),
      '["-manage-crds=false"]',
    );
    assert.equal(await cluster.read('installations.operator.tigera.io default', '{.spec.registry}'), 'mirror.example.org/');
    assert.equal(
      await cluster.read('ds -n calico-system calico-node', '{.spec.template.spec.containers[0].image}'),
      `mirror.example.org/calico/node:${CALICO_TARGET}`,
    );
    assert.equal(await cluster.read('crd goldmanes.operator.tigera.io', '{.metadata.name}'), 'goldmanes.operator.tigera.io');
    assert.equal(await cluster.read('goldmanes.operator.tigera.io', '{.items}'), '[]', 'what was not there stays away');
  });

  it('a second run writes nothing', async () => {
    await assertWritesNothing(cluster, () => cluster.upgrade(...RUN, ...flagsOf(cluster)));
  });
});
