import assert from 'node:assert/strict';
import type { Kind, KubeObject } from '../../../src/core/object.ts';
import { ApiFailure } from '../../../src/core/ports.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { readOperated } from '../../../src/stages/survey/operated.ts';
import { contextOf, found, object } from '../../fixtures/facts.ts';

const API = 'operator.tigera.io/v1';
const context = contextOf({}, calico);
const operated = found({ path: 'operator', variant: undefined });

/** Serves these objects, and no kind of which there is none. */
function clusterWith(...objects: readonly KubeObject[]) {
  const asked: string[] = [];
  return {
    asked,
    async resolve(apiVersion: string, kind: string): Promise<Kind | undefined> {
      asked.push(kind);
      const [group = '', version = ''] = apiVersion.split('/');
      const isThere = objects.some((one) => one.apiVersion === apiVersion && one.kind === kind);
      return isThere ? { group, version, kind, plural: `${kind.toLowerCase()}s`, namespaced: false } : undefined;
    },
    list: async ({ kind }: Kind) => objects.filter((one) => one.kind === kind).map((one) => ({ ...one, kind: '' })),
    get: async ({ kind }: Kind, name: string) => objects.find((one) => one.kind === kind && one.metadata.name === name),
  };
}

const policy = object('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy/safe-upgrades.gateway.networking.k8s.io');

describe('what the settings of an operator are judged by', () => {
  it('is read of every kind that is served, and says its kind', async () => {
    const gateway = object(API, 'GatewayAPI/default');
    const images = object(API, 'ImageSet/calico-v3.27.5');
    const installation = object(API, 'Installation/default', { spec: { nonPrivileged: 'Enabled' } });
    const cluster = clusterWith(installation, images, gateway, object(API, 'APIServer/default'), policy);
    assert.deepEqual(await readOperated(cluster, context, operated), {
      value: { installation, imageSets: [images], gateways: [gateway], gatewayPolicy: policy, kinds: ['APIServer'] },
    });
  });

  it('has nothing of kinds that are not there, and does not look for the policy without a gateway', async () => {
    const cluster = clusterWith(object(API, 'Installation/default'), policy);
    const { value } = (await readOperated(cluster, context, operated)) as { value: { kinds: unknown; gatewayPolicy?: unknown } };
    assert.deepEqual([value.kinds, value.gatewayPolicy], [[], undefined]);
    assert.ok(!cluster.asked.includes('ValidatingAdmissionPolicy'));
  });

  it('is not asked for on other paths', async () => {
    const cluster = clusterWith(object(API, 'Installation/default'));
    assert.deepEqual(await readOperated(cluster, context, found()), { value: undefined });
    assert.deepEqual(cluster.asked, []);
  });

  it('keeps why it could not be read', async () => {
    const cluster = {
      ...clusterWith(object(API, 'Installation/default')),
      list: async () => {
        throw new ApiFailure(403, 'Forbidden', 'not allowed');
      },
    };
    assert.deepEqual(await readOperated(cluster, context, operated), { unread: 'not allowed (403)' });
  });
});
