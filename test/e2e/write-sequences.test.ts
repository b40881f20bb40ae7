import assert from 'node:assert/strict';
import fc from 'fast-check';
import { openControlPlane } from '../spec/open-control-plane.ts';
import { openSandbox } from '../spec/open-sandbox.ts';
import { configMap, read, type SpecCluster } from '../spec/spec-cluster.ts';
import { begin, type Sequence, sequences, stateOf, take } from '../spec/write-sequences.ts';

const RUNS = 25;

/** Whoever applied an empty map loses it by force when another one fills it: the map itself changed, though no document names it alone. */
const EMPTY_MAP: Sequence = {
  first: { by: 'create', data: {}, labels: {} },
  steps: [
    { does: 'apply-as', manager: 'somebody', data: {}, labels: { x: '1' } },
    { does: 'apply-as', manager: 'controller', data: { a: '1' }, labels: {} },
  ],
};

describe('any sequence of writes', function () {
  this.timeout(120_000);
  const clusters: SpecCluster[] = [];
  before(async function () {
    this.timeout(600_000); // a real control plane may have to be built
    clusters.push(await openControlPlane(), await openSandbox());
  });
  after(() => Promise.all(clusters.map((one) => one.close())));

  it('leaves in the sandbox what it leaves on the real server', async () => {
    for (const [index, sequence] of [EMPTY_MAP, ...fc.sample(sequences, { numRuns: RUNS, seed: 1 })].entries()) {
      const [real, ours] = await Promise.all(clusters.map((one) => historyOf(one, `sequence-${index}`, sequence)));
      assert.deepEqual(ours, real, JSON.stringify(sequence));
    }
  });
});

async function historyOf(spec: SpecCluster, name: string, { first, steps }: Sequence) {
  await begin(spec, name, first);
  const state = async () => stateOf(await read(spec, configMap(name, {})));
  const history: unknown[] = [await state()];
  for (const one of steps) history.push([await take(spec, name, one), await state()]);
  return history;
}
