import assert from 'node:assert/strict';
import { storedManifests } from '../../../src/adapters/stored-bases.ts';
import { ownStop, readWayBack } from '../../../src/features/install-manifest/way-back.ts';
import type { Context } from '../../../src/kernel/context.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import type { TakenBack } from '../../../src/kernel/intent.ts';
import { jsonAt } from '../../../src/kernel/json.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { changeTo } from '../../../src/kernel/object-change.ts';
import type { Sources } from '../../../src/kernel/ports.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf, installation } from '../../fixtures/facts.ts';

/** An upgrade that kept no edits. */
async function wayBack(wrote: readonly string[]) {
  const takesBack = { runId: 'r', from: 'v3.27.5', to: 'v3.32.1', wrote, startedAt: '2026-01-01T00:00:00Z' };
  const context: Context = {
    ...contextOf({ release: 'v3.27.5' }, calico),
    goal: { release: 'v3.27.5', takesBack },
    intent: { kind: 'rollback' },
  };
  const sources = { stored: storedManifests('calico'), records: {} } as unknown as Sources;
  return readWayBack(sources, context, { ...installation, variant: 'calico' }, [], takesBack);
}

describe('the way of a rollback', () => {
  it('is not known where the upgrade wrote its manifest and kept no edits: it had a finished file, or no base', async () => {
    await assert.rejects(
      wayBack(['crds', 'apply']),
      (thrown) =>
        thrown instanceof Fault &&
        thrown.code === 'blocked' &&
        /did not keep what v3\.27\.5 had of yours: .*--upgrade-file/.test(thrown.message) &&
        /RESTORE\.md/.test(`${thrown.suggestions}`),
    );
  });

  it('is from the former release to itself where the manifest was not written yet: what differs is the user’s', async () => {
    const { candidates, wanted } = await wayBack(['ownerrefs-strip']);
    assert.deepEqual([candidates.installed, candidates.first], ['v3.27.5', { release: 'v3.27.5', documents: [] }]);
    assert.deepEqual(wanted, []);
  });
});

describe('controllers at 0 replicas', () => {
  const deployment = (replicas: number): KubeObject => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'calico-kube-controllers', namespace: 'kube-system' },
    spec: { replicas },
  });
  const replicasIn = async (stoppedBy: string, more: Partial<TakenBack> = {}) => {
    const content = { changes: [changeTo(deployment(2), { '/spec/replicas': 0 })] };
    const records = { keptWith: async () => [{ id: `${stoppedBy}/rollback-stop/stop-calico-kube-controllers#1`, content }] };
    const takesBack = { runId: 'r3', from: 'v3.27.5', to: 'v3.32.1', wrote: ['apply'], startedAt: '2026-01-01T00:00:00Z', ...more };
    const context: Context = { ...contextOf({ release: 'v3.27.5' }, calico), goal: { release: 'v3.27.5', takesBack } };
    return jsonAt((await ownStop(records, context))(deployment(0)), 'spec', 'replicas');
  };

  it('get back what they had where this rollback stopped them, in whatever part of it', async () => {
    assert.equal(await replicasIn('r4'), 2);
    assert.equal(await replicasIn('r2', { since: 'r1' }), 2);
  });

  it('are the user’s wish where only a rollback of an earlier upgrade stopped them, or this one came to its end', async () => {
    assert.equal(await replicasIn('r2'), 0);
    assert.equal(await replicasIn('r4', { isOver: true }), 0);
  });
});
