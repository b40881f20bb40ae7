import assert from 'node:assert/strict';
import { MANIFESTS, OPERATED } from '../../src/kernel/installation.ts';
import type { RecordedPath } from '../../src/kernel/run-record.ts';
import { HELD_BY } from '../../src/kube/held.ts';
import { RECORD } from '../fixtures/stored-record.ts';
import { commandBench } from '../support/command-bench.ts';
import { CLUSTER_UID } from '../support/engine-ports.ts';

const TYPHA = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'calico-typha', namespace: 'calico-system', annotations: { [HELD_BY]: 'run-1' } },
};

/** A command on a cluster where Typha is held; how often that was looked up. */
async function asked(command: string, path?: RecordedPath) {
  const bench = commandBench([]);
  let looks = 0;
  const get = async (_: unknown, name: string) => {
    looks += 1;
    return name === TYPHA.metadata.name ? TYPHA : undefined;
  };
  Object.assign(bench.engine.ports.cluster, { get });
  if (path) bench.engine.stored = { ...RECORD, clusterUid: CLUSTER_UID, profile: 'calico', path };
  assert.equal(await bench.run(command, '-o', 'json'), 0, bench.err());
  return { looks, held: JSON.parse(bench.out()).held };
}

describe('a held Typha', () => {
  const held = { object: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'calico-typha', namespace: 'calico-system' }, run: 'run-1' };

  for (const path of [undefined, 'unknown', ...OPERATED] as const)
    it(`is looked up by status where the record says ${path ?? 'nothing'}`, async () => {
      assert.deepEqual(await asked('status', path), { looks: 2, held }, 'Typha and the controllers');
    });

  for (const path of MANIFESTS)
    it(`is not asked for by status after a run on path ${path}, which holds none`, async () => {
      assert.deepEqual(await asked('status', path), { looks: 0, held: null });
    });

  it('is not asked for by unlock', async () => {
    assert.deepEqual(await asked('unlock'), { looks: 0, held: undefined });
  });
});
