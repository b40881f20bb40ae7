import assert from 'node:assert/strict';
import { type AgentsOf, hasUpgradedNode, readAgents } from '../../../src/features/network-probe/agents.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import type { ClusterReader } from '../../../src/kernel/ports.ts';
import { steppingClock } from '../../support/operator-script.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const place = { namespace: 'calico-system', name: 'calico-node', container: 'calico-node', ready: { type: 'all-containers' } } as const;
const NEW = 'sha256:1111111111111111111111111111111111111111111111111111111111111111';
const OLD = 'sha256:2222222222222222222222222222222222222222222222222222222222222222';

const agent = (node: string, image: string, isReady = true): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `calico-node-${node}`, namespace: place.namespace, uid: node },
  spec: { nodeName: node, containers: [{ name: 'calico-node', image }] },
  status: {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
    containerStatuses: [{ name: 'calico-node', ready: isReady, state: { running: {} } }],
  },
});

async function told(runs: AgentsOf['runs'], ...pods: readonly KubeObject[]) {
  const set = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'calico-node' },
    spec: { selector: { matchLabels: { a: 'b' } } },
  };
  const cluster = { get: async () => set, list: async () => pods } as unknown as ClusterReader;
  const ports = { cluster, clock: steppingClock() };
  const agents = await readAgents(ports, { ...place, runs });
  assert.equal(
    await hasUpgradedNode(ports, { ...place, runs }),
    agents.some(({ is }) => is === 'upgraded'),
  );
  return agents.map(({ node, is }) => `${node} ${is}`);
}

describe('the agents of the nodes', () => {
  it('of a manifest are known by their image, whatever its registry', async () =>
    assert.deepEqual(
      await told(
        { image: `quay.io/calico/node:${CALICO_TARGET}` },
        agent('a', `mirror.corp/calico/node:${CALICO_TARGET}`),
        agent('b', 'quay.io/calico/node:v3.27.5'),
        agent('c', `quay.io/calico/node:${CALICO_TARGET}`, false),
      ),
      ['a upgraded', 'b old', 'c late'],
    ));

  it('of an operator are known by their release, or by digests of it', async () =>
    assert.deepEqual(
      await told(
        { release: CALICO_TARGET, digests: [NEW] },
        agent('a', `quay.io/calico/node:${CALICO_TARGET}`),
        agent('b', `quay.io/calico/node@${NEW}`),
        agent('c', `quay.io/calico/node@${OLD}`),
        agent('d', 'quay.io/calico/node:v3.27.5'),
      ),
      ['a upgraded', 'b upgraded', 'c old', 'd old'],
    ));

  it('are none where there is no such DaemonSet', async () => {
    const cluster = { get: async () => undefined } as unknown as ClusterReader;
    assert.deepEqual(await readAgents({ cluster, clock: steppingClock() }, { ...place, runs: { image: 'x' } }), []);
  });
});
