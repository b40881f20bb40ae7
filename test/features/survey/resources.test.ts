import assert from 'node:assert/strict';
import { readClis } from '../../../src/features/service-cli/cli-list.ts';
import { crdFact } from '../../../src/features/survey/inventory.ts';
import {
  podView,
  readAgentConfig,
  readClient,
  readInjectors,
  readProxyMode,
  readResources,
  withStoredVersions,
} from '../../../src/features/survey/resources.ts';
import type { Tools } from '../../../src/kernel/argv.ts';
import type { Kind, KubeObject } from '../../../src/kernel/object.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { object, resource } from '../../fixtures/facts.ts';
import { clusterOf } from '../../support/cluster-of.ts';
import { emptySources } from '../../support/empty-sources.ts';
import { objectOf } from '../../support/inventory.ts';

const kind = (plural: string, name: string, group = 'crd.projectcalico.org'): Kind => ({
  group,
  version: 'v1',
  kind: name,
  plural,
  namespaced: false,
});
const kinds = [
  kind('ippools', 'IPPool'),
  kind('ipamblocks', 'IPAMBlock'),
  kind('felixconfigurations', 'FelixConfiguration'),
  kind('adminnetworkpolicies', 'AdminNetworkPolicy', 'policy.networking.k8s.io'),
  kind('deployments', 'Deployment', 'apps'),
];

describe('the survey of stored resources', () => {
  it('lists the service’s kinds and the removed ones, without the bookkeeping of addresses', async () => {
    const { cluster, requests } = clusterOf([resource('IPPool/a')], {
      kinds,
      refuses: { 'felixconfigurations.crd.projectcalico.org': 403 },
    });
    const reading = await readResources(cluster, { value: { kinds } }, calico);
    assert.ok('value' in reading);
    assert.deepEqual(
      reading.value.map(({ kind: { plural }, objects }) => [plural, 'value' in objects ? objects.value.length : objects.unread]),
      [
        ['ippools', 1],
        ['felixconfigurations', 'felixconfigurations.crd.projectcalico.org refused (403)'],
        ['adminnetworkpolicies', 0],
      ],
    );
    assert.equal(requests.length, 3);
  });

  it('is unread if discovery is', async () => {
    assert.deepEqual(await readResources(clusterOf([]).cluster, { unread: 'no' }, calico), { unread: 'no' });
  });

  it('reads the mode of kube-proxy from its configuration', async () => {
    const proxy = (text: string) => [object('v1', 'ConfigMap/kube-system/kube-proxy', { data: { 'config.conf': text } })];
    assert.equal(await readProxyMode(clusterOf(proxy('kind: KubeProxyConfiguration\nmode: "nftables"\n')).cluster), 'nftables');
    assert.equal(await readProxyMode(clusterOf(proxy('mode: ""\n')).cluster), '');
    assert.equal(await readProxyMode(clusterOf([]).cluster), undefined);
  });

  it('finds the injector of every revision', async () => {
    const map = (name: string) => object('v1', `ConfigMap/istio-system/${name}`);
    const { cluster } = clusterOf([map('istio-sidecar-injector'), map('istio-sidecar-injector-1-22'), map('istio')]);
    assert.equal((await readInjectors(cluster, calico)).length, 2);
  });

  it('reads the agents’ ConfigMap of the variant', async () => {
    const { cluster } = clusterOf([object('v1', 'ConfigMap/kube-system/calico-config')]);
    assert.equal((await readAgentConfig(cluster, calico, 'calico'))?.metadata.name, 'calico-config');
    assert.equal(await readAgentConfig(cluster, calico, undefined), undefined);
  });
});

describe('the view of a pod', () => {
  it('keeps images, readiness and drivers', () => {
    const view = podView(
      object('v1', 'Pod/a/b', {
        metadata: { labels: { app: 'x' } },
        spec: {
          nodeName: 'n1',
          initContainers: [{ name: 'i', image: 'init:1' }],
          containers: [{ name: 'c', image: 'main:1' }],
          volumes: [{ flexVolume: { driver: 'nodeagent/uds' } }, { emptyDir: {} }],
        },
        status: {
          phase: 'Running',
          conditions: [{ type: 'Ready', status: 'True' }],
          containerStatuses: [{ name: 'c', ready: true }],
        },
      }),
    );
    assert.deepEqual(view, {
      namespace: 'a',
      name: 'b',
      node: 'n1',
      labels: { app: 'x' },
      containers: [
        { name: 'i', image: 'init:1' },
        { name: 'c', image: 'main:1' },
      ],
      readyContainers: 1,
      regularContainers: 1,
      ready: true,
      terminating: false,
      flexDrivers: ['nodeagent/uds'],
    });
  });

  it('tells of one that was evicted that it has ended', () => {
    assert.equal(podView(object('v1', 'Pod/a/b', { status: { phase: 'Failed', reason: 'Evicted' } })).ended, true);
  });
});

const GROUP = { crdGroup: 'crd.projectcalico.org' };
const CRDS = ['tiers.crd.projectcalico.org', 'apps.example.com', 'ippools.crd.projectcalico.org'].map(crdFact);

/** Answers with the definitions that are there, and notes which were asked for. */
function definitions(stored: Readonly<Record<string, Readonly<Record<string, unknown>>>>) {
  const asked: string[] = [];
  const get = async (_kind: unknown, name: string): Promise<KubeObject | undefined> => {
    asked.push(name);
    const status = stored[name];
    return status && objectOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition', name, status);
  };
  return { asked, cluster: { get } };
}

describe('reading stored versions', () => {
  it('asks for the definitions of the service alone', async () => {
    const { asked, cluster } = definitions({
      'tiers.crd.projectcalico.org': { status: { storedVersions: ['v1', 'v1beta1'] } },
      'ippools.crd.projectcalico.org': { status: { storedVersions: ['v1'] } },
    });
    const crds = await withStoredVersions(cluster, CRDS, GROUP);
    assert.deepEqual(
      crds.map(({ name, storedVersions }) => [name, storedVersions]),
      [
        ['tiers.crd.projectcalico.org', ['v1', 'v1beta1']],
        ['apps.example.com', undefined],
        ['ippools.crd.projectcalico.org', ['v1']],
      ],
    );
    assert.deepEqual(asked.sort(), ['ippools.crd.projectcalico.org', 'tiers.crd.projectcalico.org']);
  });

  it('knows none of a definition that is gone or has no status yet', async () => {
    const { cluster } = definitions({ 'tiers.crd.projectcalico.org': {} });
    const crds = await withStoredVersions(cluster, CRDS, GROUP);
    assert.deepEqual(
      crds.map(({ storedVersions }) => storedVersions),
      [[], undefined, []],
    );
  });
});

/** Programs by file; each prints its text. */
function toolsOf(files: Readonly<Record<string, readonly string[]>>, output: Readonly<Record<string, string>>): Tools {
  return {
    ...emptySources().tools,
    which: async (program) => files[program] ?? [],
    async run({ tool }, { program } = {}) {
      const stdout = output[program ?? tool];
      return { exitCode: stdout === undefined ? 1 : 0, stdout: stdout ?? '', stderr: '', durationMs: 1 };
    },
  };
}

describe('the survey of this machine', () => {
  it('asks kubectl for its version', async () => {
    const tools = toolsOf({ kubectl: ['/usr/bin/kubectl', '/opt/kubectl'] }, { kubectl: '{"clientVersion":{"gitVersion": "v1.36.1"}}' });
    assert.deepEqual(await readClient(tools), { path: '/usr/bin/kubectl', gitVersion: 'v1.36.1', platform: 'linux/amd64' });
  });

  it('finds no kubectl, or one that does not tell', async () => {
    assert.deepEqual(await readClient(toolsOf({}, {})), { platform: 'linux/amd64' });
    assert.deepEqual(await readClient(toolsOf({ kubectl: ['/k'] }, {})), { path: '/k', platform: 'linux/amd64' });
  });

  it('asks every CLI of the service for its release, each file once', async () => {
    const tools = toolsOf(
      { calicoctl: ['/a/calicoctl', '/b/calicoctl'], 'kubectl-calico': ['/a/calicoctl'] },
      { '/a/calicoctl': 'Client Version:    v3.27.5\nGit commit:        abc\n' },
    );
    assert.deepEqual(await readClis(tools, calico), [{ file: '/a/calicoctl', release: 'v3.27.5' }, { file: '/b/calicoctl' }]);
  });
});
