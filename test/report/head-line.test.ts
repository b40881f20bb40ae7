import assert from 'node:assert/strict';
import type { RunRecord } from '../../src/kernel/run-record.ts';
import { plain } from '../../src/report/colour.ts';
import { headLine, recordHead } from '../../src/report/head-line.ts';
import { upgradeTo } from '../fixtures/stored-record.ts';

const CLUSTER = '05aa2a29-0000';
const recorded = (more: object) =>
  headLine(recordHead({ intent: upgradeTo('v3.32.1'), path: 'manifest', clusterUid: CLUSTER, ...more } as unknown as RunRecord), plain);

describe('the second line of a screen', () => {
  it('says what is installed, what comes, and on how many nodes', () => {
    const head = {
      path: 'manifest',
      variant: 'calico',
      datastore: 'api',
      source: 'v3.27.5',
      release: 'v3.32.1',
      nodes: 6,
      clusterUid: CLUSTER,
    };
    assert.equal(headLine(head, plain), 'manifest path, calico, API datastore   v3.27.5 → v3.32.1   6 nodes   cluster 05aa2a29…');
    assert.match(headLine({ ...head, source: 'v3.32.1', nodes: 1 }, plain), / {3}v3\.32\.1 \(installed\) {3}1 node {3}/);
  });

  it('comes from the record of a run where the cluster is not asked', () => {
    assert.equal(
      recorded({ variant: 'calico', intent: upgradeTo('v3.32.1', 'v3.27.5'), nodes: 3 }),
      'manifest path, calico   v3.27.5 → v3.32.1   3 nodes   cluster 05aa2a29…',
    );
    const intent = { kind: 'rollback', from: 'v3.32.1', to: 'v3.27.5' } as const;
    assert.match(recorded({ intent }), / {3}rollback v3\.32\.1 → v3\.27\.5 {3}/);
    assert.equal(recorded({ path: 'unknown' }), 'unknown release → v3.32.1   cluster 05aa2a29…');
  });
});
