import assert from 'node:assert/strict';
import { storedManifests } from '../../../src/adapters/stored-bases.ts';
import { readAdded } from '../../../src/features/install-manifest/added.ts';
import type { Context } from '../../../src/kernel/context.ts';
import { isRecord } from '../../../src/kernel/json.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import type { Sources } from '../../../src/kernel/ports.ts';
import { CARRIED_PART } from '../../../src/manifest/carried-file.ts';
import { identityOf } from '../../../src/manifest/prepare.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf, installation } from '../../fixtures/facts.ts';

const [FROM, TO] = ['v3.27.5', 'v3.32.1'];
const KINDS = ['ClusterRole', 'ClusterRoleBinding', 'PodDisruptionBudget', 'ServiceAccount'];

/** What the newer release alone has, as it is after an upgrade. */
async function newcomers(): Promise<readonly KubeObject[]> {
  const stored = storedManifests('calico');
  const [old = [], now = []] = await Promise.all([FROM, TO].map((release) => stored.documentsOf(release, 'calico-typha.yaml')));
  const known = new Set(old.map(identityOf));
  return now.filter((one) => KINDS.includes(one.kind) && !known.has(identityOf(one)));
}

async function removedOf(live: readonly KubeObject[]): Promise<readonly string[]> {
  const carried = {
    ...{ target: TO, base: FROM, resolutions: {}, edits: [], files: {} },
    former: { release: FROM, changed: [], removed: [], added: live.map(identityOf) },
  };
  const takesBack = { runId: 'r', from: FROM, to: TO, wrote: ['apply'], startedAt: '2026-01-01T00:00:00Z' };
  const context: Context = { ...contextOf({ release: FROM }, calico), goal: { release: FROM, takesBack }, intent: { kind: 'rollback' } };
  const list = async (kind: { readonly kind: string }) => live.filter((one) => one.kind === kind.kind);
  const records = { keptWith: async () => [{ id: `r${CARRIED_PART}1`, content: carried }] };
  const sources = { cluster: { list }, records, stored: storedManifests('calico') } as unknown as Sources;
  const added = await readAdded(sources, context, installation, { live, unserved: [] });
  return added.map(({ kind, metadata }) => `${kind}/${metadata.name}`).sort();
}

describe('what an upgrade added', () => {
  it('goes where nothing uses it; a binding that somebody else has got since stays, with its role', async () => {
    const live = await newcomers();
    const binding = live.find(({ kind }) => kind === 'ClusterRoleBinding');
    assert.ok(binding, live.map(identityOf).join());
    const all = live.map(({ kind, metadata }) => `${kind}/${metadata.name}`).sort();
    assert.deepEqual(await removedOf(live), all);
    const role = isRecord(binding.roleRef) ? `${String(binding.roleRef.kind)}/${String(binding.roleRef.name)}` : '';
    const subjects = Array.isArray(binding.subjects) ? [...binding.subjects] : [];
    const shared = { ...binding, subjects: [...subjects, { kind: 'Group', name: 'auditors', apiGroup: 'rbac.authorization.k8s.io' }] };
    const left = await removedOf(live.map((one) => (one === binding ? shared : one)));
    assert.ok(!left.includes(`ClusterRoleBinding/${binding.metadata.name}`) && !left.includes(role), left.join());
    assert.ok(left.length < all.length);
  });

  it('stays where a budget says something else than it did', async () => {
    const budget: KubeObject = {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'own', namespace: 'kube-system' },
    };
    assert.deepEqual(await removedOf([{ ...budget, spec: { minAvailable: 2 } }]), []);
  });
});
