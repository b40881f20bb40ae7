import assert from 'node:assert/strict';
import { storedManifests } from '../../../src/adapters/stored-bases.ts';
import { readUnread } from '../../../src/features/going-back/unread.ts';
import type { Context } from '../../../src/kernel/context.ts';
import { apiVersionOf, type Kind, type KubeObject } from '../../../src/kernel/object.ts';
import type { Sources } from '../../../src/kernel/ports.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf, installation } from '../../fixtures/facts.ts';

const OWN = 'crd.projectcalico.org';
const kind = (name: string, plural: string, group = OWN, version = 'v1'): Kind => ({
  group,
  version,
  kind: name,
  plural,
  namespaced: false,
});
const CLUSTER_POLICY = kind('ClusterNetworkPolicy', 'clusternetworkpolicies', 'policy.networking.k8s.io', 'v1alpha2');
const POLICY = kind('GlobalNetworkPolicy', 'globalnetworkpolicies');
const POOL = kind('IPPool', 'ippools');
const FILTER = kind('BGPFilter', 'bgpfilters');
const SETTINGS = kind('FelixConfiguration', 'felixconfigurations');
const CONTROLLERS = kind('KubeControllersConfiguration', 'kubecontrollersconfigurations');
const TIER = kind('Tier', 'tiers');

type Stored = readonly (readonly [kind: Kind, name: string, spec: object])[];

const LEFT = 'v3.32.1';

/** By `Kind/name`, what of it the release does not act upon. */
async function unreadBy(release: string, stored: Stored, left = LEFT) {
  const read = await readingBy(release, stored, left);
  assert.ok('value' in read, JSON.stringify(read));
  return read.value && Object.fromEntries(read.value.map(({ object, detail }) => [`${object.kind}/${object.name}`, detail]));
}

async function readingBy(release: string, stored: Stored, left = LEFT) {
  const kinds = [...new Set(stored.map(([one]) => one))];
  const list = async (wanted: Kind, { keep = (one: KubeObject) => one } = {}) =>
    stored
      .filter(([one]) => one === wanted)
      .map(([one, name, spec]) => keep({ apiVersion: apiVersionOf(one), kind: one.kind, metadata: { name }, spec }));
  const cluster = { discover: async () => ({ kinds, failedGroups: [] }), list } as unknown as Sources['cluster'];
  const artifacts = { has: async () => false, source: '/srv/releases' } as unknown as Sources['artifacts'];
  const plain = contextOf({ release }, calico);
  const takesBack = { runId: 'r', from: release, to: left, wrote: [], startedAt: '2026-01-01T00:00:00Z' };
  const context: Context = { ...plain, goal: { release, takesBack }, intent: { kind: 'rollback' } };
  const sources = { cluster, artifacts, stored: storedManifests('calico') } as unknown as Sources;
  return readUnread(sources, context, installation);
}

describe('what an older release does not act upon', () => {
  it('is an object of a kind that it does not have', async () => {
    const stored: Stored = [
      [CLUSTER_POLICY, 'deny', { priority: 1 }],
      [FILTER, 'out', { exportV4: [{ action: 'Reject' }] }],
      [TIER, 'kube-admin', {}],
    ];
    assert.deepEqual(await unreadBy('v3.31.7', stored), { 'ClusterNetworkPolicy/deny': 'v3.31.7 has no such kind' });
    const two = { 'ClusterNetworkPolicy/deny': 'v3.25.2 has no such kind', 'BGPFilter/out': 'v3.25.2 has no such kind' };
    assert.deepEqual(await unreadBy('v3.25.2', stored), two);
  });

  it('is a field that its definition does not have, wherever it is', async () => {
    const services = { action: 'Deny', destination: { services: { name: 'db' } } };
    const stored: Stored = [
      [POLICY, 'default.web', { tier: 'default', ingress: [{ action: 'Allow' }, services] }],
      [POOL, 'late', { cidr: '10.0.0.0/16', namespaceSelector: 'all()' }],
    ];
    assert.deepEqual(await unreadBy('v3.19.4', stored), {
      'GlobalNetworkPolicy/default.web': 'ingress[1].destination.services',
      'IPPool/late': 'namespaceSelector',
    });
    assert.deepEqual(await unreadBy('v3.26.4', stored), { 'IPPool/late': 'namespaceSelector' });
    assert.deepEqual(await unreadBy('v3.31.7', stored), {});
  });

  it('is nothing that the newer definition fills in, and nothing that the service writes', async () => {
    const stored: Stored = [
      [POOL, 'default', { cidr: '10.0.0.0/16', assignmentMode: 'Automatic' }],
      [POOL, 'manual', { cidr: '10.1.0.0/16', assignmentMode: 'Manual' }],
      [SETTINGS, 'default', { nftablesMode: 'Auto' }],
      [CONTROLLERS, 'default', { controllers: { loadBalancer: { assignIPs: 'AllServices' }, policyMigration: { enabled: 'Disabled' } } }],
    ];
    assert.deepEqual(await unreadBy('v3.26.4', stored), { 'IPPool/manual': 'assignmentMode' });
  });

  it('is nothing of the configuration that the newer controllers create where there is none', async () => {
    const of = (createDefaultHostEndpoint: string): Stored => {
      const node = { hostEndpoint: { autoCreate: 'Disabled', createDefaultHostEndpoint }, leakGracePeriod: '15m0s', syncLabels: 'Enabled' };
      return [[CONTROLLERS, 'default', { healthChecks: 'Enabled', controllers: { node, policy: { reconcilerPeriod: '5m0s' } } }]];
    };
    for (const release of ['v3.18.6', 'v3.26.4', 'v3.29.7']) assert.deepEqual(await unreadBy(release, of('Enabled')), {});
    assert.deepEqual(await unreadBy('v3.26.4', of('Disabled')), {
      'KubeControllersConfiguration/default': 'controllers.node.hostEndpoint.createDefaultHostEndpoint',
    });
  });

  it('is not known without its definitions, and says whose', async () => {
    const read = await readingBy('v9.9.9', [[POOL, 'default', {}]]);
    assert.ok('unread' in read);
    assert.equal(
      read.unread,
      'neither this program nor /srv/releases has calico-typha.yaml of v9.9.9, which defines what that release acts upon',
    );
  });
});
