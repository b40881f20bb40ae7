import assert from 'node:assert/strict';
import { upgradeWaits } from '../../../src/features/install/around.ts';
import { readReadiness } from '../../../src/features/ownerrefs/restore-ready.ts';
import type { ClusterReader, Sources } from '../../../src/kernel/ports.ts';
import { contextOf, installation } from '../../fixtures/facts.ts';
import { folderArtifacts } from '../../support/apply-bench.ts';
import { after, type Moment, operatorCluster, steppingClock } from '../../support/operator-script.ts';
import { operatorReleases } from '../../support/releases.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const operated = { ...installation, path: 'operator', hasApiServer: true } as const;

/** Types of what has to come first, where an operator brings the components and the cluster is as the moment says. */
async function waitsAt(moment: Moment, undo?: true): Promise<readonly string[]> {
  const clock = steppingClock();
  const cluster: ClusterReader = { ...operatorCluster([[0, moment]], clock), discover: async () => ({ kinds: [], failed: [] }) };
  const records = { load: async () => undefined, kept: async () => undefined, keptWith: async () => [] };
  const artifacts = folderArtifacts(operatorReleases, [CALICO_TARGET]);
  const sources = { cluster, clock, records, artifacts } as unknown as Sources;
  const context = contextOf({ release: CALICO_TARGET });
  return (await readReadiness(sources, context, operated, undo ? undefined : upgradeWaits)).waits.map(({ until }) => until.type);
}

describe('what must be true before references go back, where an operator moves the API server', () => {
  it('is nothing once everything is at the target', async () => {
    assert.deepEqual(await waitsAt(after), []);
  });

  it('is the end of the operator’s work while old pods may still answer, though the API is available', async () => {
    const moved = { ...after, api: { ...after.api, old: true } };
    const rolling: Moment = { ...after, statuses: { ...after.statuses, apiserver: ['rolling', 1] } };
    for (const moment of [moved, rolling]) assert.deepEqual(await waitsAt(moment), ['operator-end']);
  });

  it('is nothing of that with --undo', async () => {
    assert.deepEqual(await waitsAt({ ...after, version: 'v3.27.5' }, true), []);
  });
});
