import assert from 'node:assert/strict';
import { storedManifests } from '../../../src/adapters/stored-bases.ts';
import { readReleasedTarget, targetDocuments } from '../../../src/features/install-manifest/target.ts';
import type { Context } from '../../../src/kernel/context.ts';
import type { Sources } from '../../../src/kernel/ports.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf, installation } from '../../fixtures/facts.ts';

const KINDS = ['adminnetworkpolicies.policy.networking.k8s.io', 'baselineadminnetworkpolicies.policy.networking.k8s.io'];

/** The definitions of the target of a rollback, where the cluster has those that are named. */
async function definitionsOf(release: string, there: readonly string[]) {
  const get = async (_: unknown, name: string) =>
    there.includes(name) ? { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name } } : undefined;
  const takesBack = { runId: 'r', from: release, to: 'v3.32.1', wrote: ['apply'], startedAt: '2026-01-01T00:00:00Z' };
  const context: Context = { ...contextOf({ release }, calico), goal: { release, takesBack }, intent: { kind: 'rollback' } };
  const sources = { cluster: { get }, stored: storedManifests('calico') } as unknown as Sources;
  const target = await readReleasedTarget(sources, context, { ...installation, variant: 'calico' });
  return targetDocuments(target)
    .filter(({ kind }) => kind === 'CustomResourceDefinition')
    .map(({ metadata }) => metadata.name)
    .sort();
}

describe('the target of a rollback', () => {
  it('has definitions alone that its agents need, that the newer release no longer has, and that are gone', async () => {
    assert.deepEqual(await definitionsOf('v3.30.4', []), KINDS);
    assert.deepEqual(await definitionsOf('v3.30.4', [KINDS[0] ?? '']), KINDS.slice(1));
    assert.deepEqual(await definitionsOf('v3.30.4', KINDS), []);
    assert.deepEqual(await definitionsOf('v3.29.4', []), KINDS.slice(0, 1));
    assert.deepEqual(await definitionsOf('v3.27.5', []), []);
  });
});
