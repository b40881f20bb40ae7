import assert from 'node:assert/strict';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { type GroundName, groundOf } from '../support/incident-grounds.ts';
import { playedHelm } from '../support/played-helm.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { CALICO_TARGET } from '../support/target.ts';

const WORDS = 'Invalid Installation provided: provider EKS in the spec, but OpenShift was detected';
const DEGRADED = [
  { type: 'Available', status: 'True' },
  { type: 'Progressing', status: 'False' },
  { type: 'Degraded', status: 'True', reason: 'InvalidConfigurationError', message: WORDS },
];

/** The program on a cluster whose operator refuses its Installation. */
async function onDegraded(ground: GroundName, command: string) {
  const { scenario, profile } = await groundOf(ground);
  const { cluster } = scenario;
  const kind = (await cluster.resolve('operator.tigera.io/v1', 'TigeraStatus')) ?? assert.fail('no statuses');
  const status = cluster.store.get(kind, 'calico') ?? assert.fail('no status');
  cluster.store.update(kind, { ...status, status: { conditions: DEGRADED } } as KubeObject);
  cluster.faults.writes = 0;
  const bench = sandboxCommand(scenario, profile, (own) => playedHelm(scenario, own));
  const exit = await bench.run(...command.split(' '), '--release', CALICO_TARGET);
  return { exit, text: bench.out() + bench.err(), writes: cluster.faults.writes, cluster };
}

describe('crds and apply alone, where no preflight has looked', function () {
  this.timeout(120_000);

  for (const [ground, stage] of [
    ['operator', 'apply'],
    ['operator', 'crds'],
    ['chart', 'apply'],
    ['chart', 'crds'],
  ] as const)
    it(`stops before it writes where the operator is degraded: ${stage}, ${ground}`, async () => {
      const { exit, text, writes } = await onDegraded(ground, `${stage} --yes`);
      assert.equal(exit, 3, text);
      assert.match(text, new RegExp(`^× NS-429 .*TigeraStatus/calico is Degraded: InvalidConfigurationError: ${WORDS}`, 'm'));
      assert.equal(writes, 0);
    });

  it('goes on where that is accepted by name', async () => {
    const { exit, text, cluster } = await onDegraded('operator', 'apply --yes --accept NS-429=TigeraStatus/calico --timeout 1s');
    assert.notEqual(exit, 3, text);
    assert.match(JSON.stringify(cluster.store.get(K.Deployment, 'tigera-operator', 'tigera-operator')?.spec), /operator:v1\.42/);
  });
});
