import assert from 'node:assert/strict';
import { join } from 'node:path';
import { execa } from 'execa';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import { type ChartCluster, chartCluster, flagsOf } from '../support/chart-cluster.ts';
import { type MisleadingMachine, misleadingMachine, programRequests } from '../support/misleading.ts';
import { needsHelm } from '../support/needs-helm.ts';
import { patient } from '../support/patience.ts';
import { assertSucceeded, surroundingsEnv, upgrade } from '../support/upgrade-process.ts';

/** The chart path has its own cluster, so that helm writes: a whole upgrade, while every ambient hint leads to another control plane. */
describe('one cluster for helm', function () {
  this.timeout(280_000);
  let helm: string;
  let chosen: ChartCluster;
  let other: ControlPlane;
  let machine: MisleadingMachine;
  before(async function () {
    this.timeout(0); // the very first run builds helm
    helm = await needsHelm(this, 3);
    [chosen, other] = await Promise.all([
      chartCluster(helm, { operator: { mode: 'well', pace: 0.1 }, plane: { audit: 'requests' } }),
      startControlPlane({ simulated: false, audit: 'requests', maxMinutes: 20 }),
    ]);
    machine = await misleadingMachine(other, join(chosen.around.home, 'misled'));
  });
  after(async () => {
    await machine?.stop();
    await Promise.all([chosen?.stop(), other?.stop()]);
  });

  it('is led astray where nobody keeps it', async () => {
    const env = { ...surroundingsEnv(chosen.around), ...machine.env, HELM_KUBECONTEXT: '', HELM_DRIVER: 'secret', HOME: machine.home };
    await execa(helm, ['list', '-A'], { env, extendEnv: false, reject: false, timeout: patient(30_000) });
    assert.ok(machine.visits() > 0);
    machine.forget();
  });

  it('sends no request of a whole upgrade anywhere else', async () => {
    const [before, untouched] = [(await programRequests(chosen.plane)).length, (await programRequests(other)).length];
    const flags = [...flagsOf(chosen), '--kubeconfig', chosen.around.kubeconfig, '--skip', 'cli'];
    const env = { ...chosen.around.env, ...machine.env };
    const result = await upgrade(['run', '--yes', ...flags], { ...chosen.around, home: machine.home, env });
    assert.equal(machine.visits(), 0, `somebody was led astray:\n${result.stdout}\n${result.stderr}`);
    assert.deepEqual((await programRequests(other)).slice(untouched), []);
    assertSucceeded(result);
    const events = (await programRequests(chosen.plane)).slice(before);
    for (const verb of ['get', 'create', 'update'])
      assert.ok(
        events.some((event) => /^helm/i.test(event.userAgent ?? '') && event.verb === verb),
        `helm ${verb}`,
      );
  });
});
