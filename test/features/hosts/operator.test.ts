import assert from 'node:assert/strict';
import { hepStage } from '../../../src/features/hosts/stage.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import type { ClusterReader, Sources } from '../../../src/kernel/ports.ts';
import { contextOf, object } from '../../fixtures/facts.ts';
import { clusterOf } from '../../support/cluster-of.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const NAMESPACE = 'calico-system';

interface Operated {
  readonly path?: 'operator' | 'chart';
  readonly agents?: string;
  readonly typha?: string;
  readonly controllers?: string;
  /** Image of the agent in its pod; that of its DaemonSet unless given. */
  readonly running?: string;
}

function workload(kind: 'DaemonSet' | 'Deployment', name: string, image: string): KubeObject {
  const status = kind === 'DaemonSet' ? ON_THE_NODE : ONE_REPLICA;
  return object('apps/v1', `${kind}/${NAMESPACE}/${name}`, {
    metadata: { generation: 1 },
    spec: {
      ...{ replicas: 1, selector: { matchLabels: { 'k8s-app': name } } },
      template: { spec: { containers: [{ name, image }] } },
    },
    status: { observedGeneration: 1, ...status },
  });
}

const ON_THE_NODE = {
  ...{ desiredNumberScheduled: 1, currentNumberScheduled: 1, updatedNumberScheduled: 1, numberReady: 1, numberAvailable: 1 },
};
const ONE_REPLICA = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };

function podOf(name: string, image: string): KubeObject {
  return object('v1', `Pod/${NAMESPACE}/${name}-1`, {
    metadata: { labels: { 'k8s-app': name } },
    spec: { nodeName: 'n1', containers: [{ name, image }] },
    status: { phase: 'Running', containerStatuses: [{ name, ready: true }], conditions: [{ type: 'Ready', status: 'True' }] },
  });
}

/** As the API does it: each workload is shown its own pods. */
function selecting({ list }: ClusterReader): ClusterReader['list'] {
  return async (kind, options) => {
    const [key = '', value] = options?.labelSelector?.split('=') ?? [];
    return (await list(kind, options)).filter(({ metadata }) => value === undefined || metadata.labels?.[key] === value);
  };
}

/** NS-714 of a cluster whose workloads the operator renders; each of them is rolled out, whatever its release. */
async function judged({ path = 'operator', agents = NEW, typha = NEW, controllers = NEW, running = agents }: Operated = {}) {
  const images = {
    'calico-node': `node${agents}`,
    'calico-typha': `typha${typha}`,
    'calico-kube-controllers': `controllers${controllers}`,
  };
  const annotated = { 'meta.helm.sh/release-name': 'calico', 'meta.helm.sh/release-namespace': 'tigera-operator' };
  const { cluster } = clusterOf([
    object('v1', 'Node/n1', { metadata: { uid: 'uid-n1', labels: {} } }),
    object('operator.tigera.io/v1', 'Installation/default', path === 'chart' ? { metadata: { annotations: annotated } } : {}),
    ...Object.entries(images).map(([name, image]) =>
      workload(name === 'calico-node' ? 'DaemonSet' : 'Deployment', name, `quay.io/calico/${image}`),
    ),
    podOf('calico-node', `quay.io/calico/node${running}`),
    ...Object.entries(images)
      .slice(1)
      .map(([name, image]) => podOf(name, `quay.io/calico/${image}`)),
  ]);
  const sources = {
    cluster: { ...cluster, list: selecting(cluster) },
    files: { exists: async () => false },
    tools: { which: async () => [] },
    artifacts: { has: async () => false },
    records: { load: async () => undefined, keptWith: async () => [] },
    clock: { now: () => new Date(0) },
  } as unknown as Sources;
  const stage = await hepStage.open(sources, contextOf({ path }));
  const found = stage.findings().find(({ id }) => id === 'NS-714');
  return [found?.outcome, found?.evidence.map(({ text }) => text)];
}

const [NEW, OLD] = [`:${CALICO_TARGET}`, ':v3.27.5'];
const AGENTS = `DaemonSet/${NAMESPACE}/calico-node`;

describe('hep where an operator renders the workloads', () => {
  it('goes on when agents and controllers run the target release', async () => assert.deepEqual(await judged(), ['ok', []]));

  for (const path of ['operator', 'chart'] as const) {
    it(`refuses on an old cluster of path ${path}, though it is rolled out to its last pod`, async () => {
      assert.deepEqual(await judged({ path, agents: OLD, typha: OLD, controllers: OLD }), [
        'error',
        [AGENTS, `Deployment/${NAMESPACE}/calico-typha`, `Deployment/${NAMESPACE}/calico-kube-controllers`],
      ]);
    });
  }

  it('refuses while the controllers alone are old', async () => {
    assert.deepEqual(await judged({ controllers: OLD }), ['error', [`Deployment/${NAMESPACE}/calico-kube-controllers`]]);
  });

  it('refuses while an agent still runs the old release', async () => {
    assert.deepEqual(await judged({ running: OLD }), ['error', [AGENTS, `1 pod of ${AGENTS}`]]);
  });

  it('warns of an image that does not tell its release', async () => {
    assert.deepEqual(await judged({ agents: `@sha256:${'a'.repeat(64)}` }), ['warning', [AGENTS]]);
  });
});
