import assert from 'node:assert/strict';
import { readOperated } from '../../../src/features/survey/operated.ts';
import { FORBIDDEN } from '../../../src/features/survey/reading.ts';
import type { Kind, KubeObject } from '../../../src/kernel/object.ts';
import { ApiFailure } from '../../../src/kernel/ports.ts';
import { calico } from '../../../src/profiles/calico.ts';
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
    list: async ({ kind }: Kind) => objects.filter((one) => one.kind === kind),
    get: async ({ kind }: Kind, name: string) => objects.find((one) => one.kind === kind && one.metadata.name === name),
  };
}

const policy = object('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy/safe-upgrades.gateway.networking.k8s.io');

describe('what the settings of an operator are judged by', () => {
  it('is read of every kind that is served', async () => {
    const gateway = object(API, 'GatewayAPI/default');
    const images = object(API, 'ImageSet/calico-v3.27.5');
    const installation = object(API, 'Installation/default', { spec: { nonPrivileged: 'Enabled' } });
    const definition = object('apiextensions.k8s.io/v1', 'CustomResourceDefinition/gateways.gateway.networking.k8s.io');
    const other = object('apiextensions.k8s.io/v1', 'CustomResourceDefinition/ippools.crd.projectcalico.org');
    const [server, status] = [object(API, 'APIServer/default'), object(API, 'TigeraStatus/calico')];
    const cluster = clusterWith(installation, images, gateway, server, status, policy, definition, other);
    assert.deepEqual(await readOperated(cluster, context, operated), {
      installation: { value: installation },
      dataPlane: { value: installation },
      imageSets: { value: [images] },
      reaching: { value: [] },
      apiEndpoints: { value: [] },
      certificates: { value: [] },
      podSubnets: { value: undefined },
      gateways: { value: [gateway] },
      gatewayPolicy: { value: policy },
      gatewayDefinitions: { value: [definition] },
      components: { value: [server] },
      statuses: { value: [status] },
    });
  });

  it('has the settings under the name of the one that has the pools, and of the one that has the data plane', async () => {
    const [own, overlay] = [{ ipPools: [] }, { linuxDataplane: 'Nftables' }].map((calicoNetwork, index) =>
      object(API, `Installation/${['default', 'overlay'][index]}`, { spec: { calicoNetwork } }),
    );
    assert.ok(own && overlay);
    const facts = await readOperated(clusterWith(own, overlay), context, operated);
    assert.ok(facts && 'value' in facts.installation && 'value' in facts.dataPlane);
    const both = { calicoNetwork: { ipPools: [], linuxDataplane: 'Nftables' } };
    const seen = [facts.installation.value, facts.dataPlane.value].map((one) => [one?.metadata.name, one?.spec]);
    assert.deepEqual(seen, [
      ['default', both],
      ['overlay', both],
    ]);
  });

  it('has the pod network of kubeadm, which is asked for only where the Installation lists pools', async () => {
    const data = {
      ClusterConfiguration:
        'networking:\n  dnsDomain: cluster.local\n  podSubnet: 10.244.0.0/16,fd00:10::/56\n  serviceSubnet: 10.96.0.0/12\n',
    };
    const config = object('v1', 'ConfigMap/kube-system/kubeadm-config', { data });
    const listing = object(API, 'Installation/default', { spec: { calicoNetwork: { ipPools: [{ cidr: '10.244.0.0/16' }] } } });
    const facts = await readOperated(clusterWith(listing, config), context, operated);
    assert.deepEqual(facts?.podSubnets, { value: ['10.244.0.0/16', 'fd00:10::/56'] });
    const without = await readOperated(clusterWith(object(API, 'Installation/default'), config), context, operated);
    assert.deepEqual(without?.podSubnets, { value: undefined });
  });

  it('has where the API servers listen, which is asked for only where the target begins to guard what asks them', async () => {
    const slice = object('discovery.k8s.io/v1', 'EndpointSlice/default/kubernetes', {
      endpoints: [{ addresses: ['10.0.0.1'] }, { addresses: ['10.0.0.2'] }],
      ports: [{ name: 'https', port: 8443 }],
    });
    const cluster = clusterWith(object(API, 'Installation/default'), slice);
    const from = async (release: string) =>
      (await readOperated(cluster, context, found({ path: 'operator', variant: undefined, hasApiServer: true, release })))?.apiEndpoints;
    assert.deepEqual(await from('v3.31.0'), {
      value: [
        { host: '10.0.0.1', port: 8443 },
        { host: '10.0.0.2', port: 8443 },
      ],
    });
    assert.deepEqual(await from('v3.32.0'), { value: [] });
  });

  it('has nothing of kinds that are not there, and does not look for the policy without a gateway', async () => {
    const cluster = clusterWith(object(API, 'Installation/default'), policy);
    const facts = await readOperated(cluster, context, operated);
    assert.deepEqual([facts?.components, facts?.gatewayPolicy], [{ value: [] }, { value: undefined }]);
    assert.ok(!cluster.asked.includes('ValidatingAdmissionPolicy'));
  });

  it('is not asked for on other paths', async () => {
    const cluster = clusterWith(object(API, 'Installation/default'));
    assert.deepEqual(await readOperated(cluster, context, found()), undefined);
    assert.deepEqual(cluster.asked, []);
  });

  it('keeps of each kind why it could not be read, and has the others', async () => {
    const there = clusterWith(object(API, 'Installation/default'), object(API, 'ImageSet/mine'), object(API, 'GatewayAPI/default'));
    const cluster = {
      ...there,
      list: async (kind: Kind) => {
        if (kind.kind !== 'GatewayAPI') return there.list(kind);
        throw new ApiFailure(403, 'Forbidden', 'not allowed');
      },
    };
    const facts = await readOperated(cluster, context, operated);
    const unread = { unread: 'not allowed (403)', ...FORBIDDEN };
    assert.deepEqual([facts?.gateways, facts?.gatewayPolicy, facts?.components], [unread, unread, { value: [] }]);
    assert.deepEqual(
      [facts?.installation, facts?.imageSets].map((one) => one && 'value' in one),
      [true, true],
    );
  });
});
