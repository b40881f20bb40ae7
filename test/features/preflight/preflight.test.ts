import assert from 'node:assert/strict';
import { preflightStage, runNeeds } from '../../../src/features/chain.ts';
import { preflightChecks } from '../../../src/features/preflight/catalogue.ts';
import { surveyPreflight } from '../../../src/features/preflight/stage.ts';
import { serviceNamespaces } from '../../../src/features/survey/components.ts';
import { FORBIDDEN } from '../../../src/features/survey/reading.ts';
import { K } from '../../../src/kernel/kinds.ts';
import { apiVersionOf, type Kind, type KubeObject } from '../../../src/kernel/object.ts';
import { ApiFailure, type ClusterReader, type ListOptions, type Sources } from '../../../src/kernel/ports.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf, daemonSet, deployment, node, object } from '../../fixtures/facts.ts';
import { upgradeTo } from '../../fixtures/stored-record.ts';
import { runRecord } from '../../support/apply-bench.ts';
import { clusterOf } from '../../support/cluster-of.ts';
import { artifactsOf, emptySources } from '../../support/empty-sources.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const env = { DATASTORE_TYPE: 'kubernetes', CALICO_NETWORKING_BACKEND: 'bird' };
const agents = daemonSet({
  template: {
    spec: {
      initContainers: [{ name: 'install-cni', image: 'quay.io/calico/cni:v3.27.5' }],
      containers: [
        {
          name: 'calico-node',
          image: 'quay.io/calico/node:v3.27.5',
          env: Object.entries(env).map(([name, value]) => ({ name, value })),
        },
      ],
    },
  },
});
const controllers = deployment('calico-kube-controllers');
const config = object('v1', 'ConfigMap/kube-system/calico-config', {
  data: { veth_mtu: '0', typha_service_name: 'none', calico_backend: 'bird' },
});
const kinds = Object.values(K);
const objects = [agents, controllers, config, node('n1'), node('n2'), object('v1', 'Namespace/kube-system')];

/** Documents as the file of the target release holds them. */
const manifest = [config, { ...agents, status: undefined }, { ...controllers, status: undefined }]
  .map((document) => JSON.stringify(document).replaceAll('v3.27.5', CALICO_TARGET))
  .join('\n---\n');

function sourcesOf(cluster: ClusterReader, text: string | undefined = manifest): Sources {
  const dry: Partial<ClusterReader> = {
    dryRunApply: async (_kind, document) => ({ ...document, metadata: { ...document.metadata, managedFields: [] } }),
    dryRunCreate: async (_kind, document) => document,
    raw: () => Promise.reject(new ApiFailure(404, 'NotFound', 'it serves no schema')),
    dryRunPatch: async (kind, ref) => ({ apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: { name: ref.name } }),
  };
  return {
    cluster: { ...cluster, ...dry },
    ...emptySources(),
    tools: {
      ...emptySources().tools,
      which: async (program) => (program === 'kubectl' ? ['/usr/bin/kubectl'] : []),
      run: async () => ({ exitCode: 0, stdout: '{"gitVersion": "v1.35.0"}', stderr: '', durationMs: 1 }),
    },
    artifacts: artifactsOf(() => text),
    lock: { identity: 'nobody', holder: async () => undefined },
  };
}

async function survey(things: readonly KubeObject[] = objects, parts: Parameters<typeof clusterOf>[1] = {}, text?: string) {
  const { cluster, requests } = clusterOf(things, { kinds, ...parts });
  return { facts: await surveyPreflight(sourcesOf(cluster, text), contextOf(), runNeeds), requests };
}

/** How the survey lists each of these kinds, in the order of the texts. */
async function listsOf(...asked: readonly Kind[]): Promise<Readonly<Record<string, readonly string[]>>> {
  const { cluster } = clusterOf(objects, { kinds });
  const lists: (readonly [string, string])[] = [];
  const list: ClusterReader['list'] = (kind, options = {}) => {
    lists.push([kind.plural, listText(options)]);
    return cluster.list(kind, options);
  };
  await surveyPreflight(sourcesOf({ ...cluster, list }), contextOf(), runNeeds);
  return Object.fromEntries(asked.map(({ plural }) => [plural, lists.flatMap(([listed, how]) => (listed === plural ? [how] : [])).sort()]));
}

function listText({ metadataOnly, labelSelector, namespace }: ListOptions): string {
  return `${metadataOnly ? 'metadata' : 'whole'}${labelSelector ? ' by label' : ''}${namespace === undefined ? '' : ` in ${namespace}`}`;
}

describe('the survey of the preflight', () => {
  it('finds what is installed, and the target for it', async () => {
    const { facts } = await survey();
    assert.ok('value' in facts.detection && facts.detection.value.type === 'found');
    assert.equal(facts.detection.value.installation.release, 'v3.27.5');
    assert.ok('value' in facts.target, JSON.stringify(facts.target));
    assert.deepEqual(
      facts.target.value.documents.map((document) => document.kind),
      ['ConfigMap', 'DaemonSet', 'Deployment'],
    );
    assert.ok('value' in facts.preview);
    assert.equal(facts.preview.value.length, 3);
  });

  it('waits for no program and no search before it asks about the target, nor for the target before it searches', async () => {
    const { cluster } = clusterOf(objects, { kinds });
    const [asked, searched] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const sources = sourcesOf(cluster);
    const facts = await surveyPreflight(
      {
        ...sources,
        tools: { ...sources.tools, run: (...call) => asked.promise.then(() => sources.tools.run(...call)) },
        cluster: {
          ...sources.cluster,
          list: (kind, options) => {
            if (options?.ownedBy) searched.resolve();
            return sources.cluster.list(kind, options);
          },
          async dryRunApply(...call) {
            asked.resolve();
            await searched.promise;
            return sources.cluster.dryRunApply(...call);
          },
        },
      },
      contextOf(),
      runNeeds,
    );
    assert.ok('value' in facts.preview && 'value' in facts.client);
  });

  it('requires the right to list what the target drops where the server has it, for the backup fails without', async () => {
    const { group, plural, kind } = calico.removedKinds[0] ?? assert.fail();
    const gone: Kind = { group, version: 'v1alpha1', kind, plural, namespaced: false };
    const required = async (served: readonly Kind[]) => {
      const { facts } = await survey(objects, { kinds: served });
      assert.ok('value' in facts.access);
      return facts.access.value.find(({ request }) => request.verb === 'list' && request.resource === plural)?.required;
    };
    assert.deepEqual([await required(kinds), await required([...kinds, gone])], [false, true]);
  });

  it('asks for all permissions in one batch, those on the target’s documents among them', async () => {
    const { facts, requests } = await survey();
    assert.equal(requests.filter((request) => request.startsWith('review')).length, 1);
    assert.ok('value' in facts.access);
    const asked = facts.access.value.map(({ request }) => `${request.verb} ${request.resource} ${request.namespace ?? ''}`);
    assert.ok(asked.includes('patch daemonsets kube-system'));
    assert.ok(!asked.includes('patch services kube-system'));
  });

  it('lists nodes, namespaces and all pods whole once each; else only the service’s pods by place, and metadata', async () => {
    const lists = await listsOf(K.Pod, K.Node, K.Namespace, K.APIService, K.PodDisruptionBudget);
    const [detection, owners, all] = ['metadata', 'metadata', 'whole'];
    const placed = serviceNamespaces(calico).map((namespace) => `whole by label in ${namespace}`);
    assert.deepEqual(lists, {
      pods: [owners, all, ...placed].sort(),
      nodes: [detection, owners, all],
      namespaces: [owners, all],
      apiservices: [owners, all],
      poddisruptionbudgets: [owners, all],
    });
  });

  it('searches for owner references, because UIDs change on the way from v3.27', async () => {
    const owner = { apiVersion: 'projectcalico.org/v3', kind: 'NetworkSet', name: 'o', uid: 'u' };
    const dependent = object('v1', 'ConfigMap/shop/x', { metadata: { ownerReferences: [owner] } });
    const { facts } = await survey([...objects, dependent]);
    assert.ok('value' in facts.owners);
    assert.equal(facts.owners.value.references?.objects.length, 1);
    assert.equal(facts.owners.value.apiReplaced, false);
  });

  it('knows of a resumed run that it has replaced the API server, whose group may not be served', async () => {
    const { cluster } = clusterOf(objects, { kinds });
    const sources = sourcesOf(cluster);
    const record = runRecord({
      clusterUid: 'cluster-1',
      intent: upgradeTo(contextOf().goal.release, 'v3.27.4'),
      wrote: ['apply'],
      oldest: 'v3.27.4',
    });
    const facts = await surveyPreflight({ ...sources, records: { ...sources.records, load: async () => record } }, contextOf(), runNeeds);
    assert.equal('value' in facts.owners && facts.owners.value.apiReplaced, true);
  });

  it('keeps the reason of everything that could not be read, and reads the rest', async () => {
    const { facts } = await survey(objects, { refuses: { nodes: 403, namespaces: 500 } });
    assert.deepEqual(facts.nodes, { unread: 'nodes refused (403)', ...FORBIDDEN });
    assert.deepEqual(facts.namespaces, { unread: 'namespaces refused (500)' });
    assert.ok('value' in facts.pods);
  });

  it('has no target where nothing is installed', async () => {
    const { facts } = await survey([]);
    assert.ok('value' in facts.detection && facts.detection.value.type === 'none');
    assert.ok('unread' in facts.target);
  });
});

describe('the preflight stage', () => {
  it('only reads', async () => {
    const { cluster } = clusterOf(objects, { kinds });
    const open = await preflightStage.open(sourcesOf(cluster), contextOf());
    assert.equal(preflightStage.readOnly, true);
    assert.deepEqual(open.plan(), { actions: [] });
    assert.equal(open.findings().length, preflightChecks.length);
  });

  it('tells why a target is missing', async () => {
    const { cluster } = clusterOf(objects, { kinds });
    const sources = { ...sourcesOf(cluster), artifacts: emptySources().artifacts };
    const findings = (await preflightStage.open(sources, contextOf())).findings();
    const finding = findings.find(({ id }) => id === 'NS-601');
    assert.equal(finding?.outcome, 'error');
    assert.match(finding?.message ?? '', /404/);
  });
});
