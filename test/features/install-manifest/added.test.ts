import assert from 'node:assert/strict';
import { storedManifests } from '../../../src/adapters/stored-bases.ts';
import { manifestPreconditions, readAdded, removeAdded } from '../../../src/features/install-manifest/added.ts';
import type { Context } from '../../../src/kernel/context.ts';
import type { EnginePorts } from '../../../src/kernel/effect-type.ts';
import { Outdated } from '../../../src/kernel/fault.ts';
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

type Keep = { readonly keep?: (object: KubeObject) => KubeObject };

/** A cluster that holds of each object what is kept. */
const clusterWith = (all: readonly KubeObject[]) => ({
  list: async (kind: { readonly kind: string }, { keep = (one) => one }: Keep = {}) =>
    all.filter((one) => one.kind === kind.kind).map(keep),
});

async function removedOf(live: readonly KubeObject[], beside: readonly KubeObject[] = []): Promise<readonly string[]> {
  const carried = {
    ...{ target: TO, base: FROM, resolutions: {}, edits: [], files: {} },
    former: { release: FROM, changed: [], removed: [], added: live.map(identityOf) },
  };
  const kept = [`r${CARRIED_PART}1`];
  const takesBack = { runId: 'r', from: FROM, to: TO, wrote: ['apply'], kept, startedAt: '2026-01-01T00:00:00Z' };
  const context: Context = { ...contextOf({ release: FROM }, calico), goal: { release: FROM, takesBack }, intent: { kind: 'rollback' } };
  const records = { kept: async () => carried };
  const sources = { cluster: clusterWith([...live, ...beside]), records, stored: storedManifests('calico') } as unknown as Sources;
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

  it('stays where a pod runs as it, and goes once that has ended', async () => {
    const account: KubeObject = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'calico-new', namespace: 'kube-system' } };
    const pod = (phase: string): KubeObject => ({
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'own', namespace: 'kube-system' } },
      ...{ spec: { serviceAccountName: account.metadata.name, containers: [] }, status: { phase } },
    });
    assert.deepEqual(await removedOf([account], [pod('Running')]), []);
    assert.deepEqual(await removedOf([account], [pod('Succeeded')]), ['ServiceAccount/calico-new']);
  });

  it('stays where a pod would run as it: of a CronJob between two runs, of a workload at 0 replicas', async () => {
    const account: KubeObject = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'calico-new', namespace: 'kube-system' } };
    const template = { spec: { serviceAccountName: account.metadata.name, containers: [] } };
    const user = (kind: string, spec: object, namespace = 'kube-system') => ({
      apiVersion: 'v1',
      kind,
      metadata: { name: 'own', namespace },
      spec,
    });
    const cronJob = { schedule: '0 3 * * *', jobTemplate: { spec: { template } } };
    const atZero = { replicas: 0, template };
    for (const one of [user('CronJob', cronJob), ...['DaemonSet', 'Deployment', 'StatefulSet'].map((kind) => user(kind, atZero))])
      assert.deepEqual(await removedOf([account], [one]), [], one.kind);
    assert.deepEqual(await removedOf([account], [user('CronJob', cronJob, 'shop')]), ['ServiceAccount/calico-new']);
  });

  it('is looked at once more right before it goes: a role that somebody binds meanwhile stays', async () => {
    const target = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'calico-tier-getter' };
    const binding: KubeObject = {
      ...{ apiVersion: target.apiVersion, kind: 'RoleBinding', metadata: { name: 'own', namespace: 'shop' } },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: target.kind, name: target.name },
    };
    const assertUnused = (...all: readonly KubeObject[]) =>
      manifestPreconditions.unused.assert({ cluster: clusterWith(all) } as unknown as EnginePorts, { type: 'unused', target }, { stop });
    const stop = new AbortController().signal;
    await assertUnused();
    await assert.rejects(assertUnused(binding), Outdated);
    const [action] = removeAdded([{ apiVersion: target.apiVersion, kind: target.kind, metadata: { name: target.name } }]);
    assert.deepEqual(action?.effect, { type: 'delete', target, onlyIf: { type: 'unused', target } });
    const made = removeAdded([], [{ apiVersion: target.apiVersion, kind: target.kind, metadata: { name: target.name } }]);
    assert.deepEqual(made[0]?.effect, { type: 'delete', target }, 'its pods may still be ending');
  });

  it('stays where a role has got another rule since, or counts for a role of somebody else, and with it its binding', async () => {
    const live = await newcomers();
    const role = live.find(({ kind }) => kind === 'ClusterRole');
    assert.ok(role);
    const rule = { apiGroups: [''], resources: ['pods'], verbs: ['list'] };
    const rules = Array.isArray(role.rules) ? role.rules : [];
    const labels = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };
    for (const changed of [
      { ...role, rules: [...rules, rule] },
      { ...role, rules: rules.slice(1) },
      { ...role, metadata: { ...role.metadata, labels } },
    ]) {
      const left = await removedOf(live.map((one) => (one === role ? changed : one)));
      assert.deepEqual(
        left.filter((one) => one.endsWith(`/${role.metadata.name}`)),
        [],
      );
    }
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
