import assert from 'node:assert/strict';
import type { Api } from './api.ts';
import type { UpOptions } from './arguments.ts';
import { everyPodRuns, findManifest } from './install.ts';

const options: UpOptions = {
  nodes: 1,
  install: 'v3.27.5',
  profile: 'calico',
  variant: 'canal',
  maxMinutes: 1,
  readyAfterMs: 1,
  audit: false,
};

describe('finding the manifest to install', () => {
  it('prefers the folder that was named', () => {
    assert.equal(
      findManifest({ ...options, manifests: '/mine' }, () => true),
      '/mine/v3.27.5/manifests/canal.yaml',
    );
  });

  it('goes on to the published releases, then to our own', () => {
    assert.match(
      findManifest(options, () => true),
      /netsvc-upgrade-test-releases\/\w+\/v3\.27\.5\/manifests\/canal\.yaml$/,
    );
    assert.match(
      findManifest(options, (file) => file.includes('sandbox')),
      /src\/sandbox\/releases\/v3\.27\.5\/manifests\/canal\.yaml$/,
    );
  });

  it('says where it looked in vain', () => {
    assert.throws(
      () => findManifest({ ...options, manifests: '/mine' }, () => false),
      /no manifest canal\.yaml of v3\.27\.5; looked for\n {2}\/mine\/[\s\S]*sandbox/,
    );
  });
});

describe('waiting for installed pods', () => {
  const daemonSet = { metadata: { generation: 1 }, status: { observedGeneration: 1, desiredNumberScheduled: 2 } };
  const deployment = { metadata: { generation: 1 }, spec: { replicas: 1 }, status: { observedGeneration: 1 } };
  const pods = (...phases: readonly string[]) => phases.map((phase) => ({ status: { phase } }));
  const cases: readonly [string, object[], object[], boolean][] = [
    ['is over when as many run as are wanted', [daemonSet, deployment], pods('Running', 'Running', 'Running'), true],
    ['goes on while one is pending', [daemonSet, deployment], pods('Running', 'Running', 'Pending'), false],
    ['goes on while a controller has not seen its workload', [{ metadata: { generation: 1 } }], pods(), false],
    ['is over when nothing is wanted', [], [], true],
  ];
  for (const [title, workloads, list, expected] of cases) {
    it(title, async () => {
      const answers: Readonly<Record<string, object[]>> = {
        '/apis/apps/v1/daemonsets': workloads.filter((workload) => workload !== deployment),
        '/apis/apps/v1/deployments': workloads.filter((workload) => workload === deployment),
        '/api/v1/pods': list,
      };
      const api = { get: async (path: string) => ({ items: answers[path] }) } as unknown as Api;
      assert.equal(await everyPodRuns(api), expected);
    });
  }
});
