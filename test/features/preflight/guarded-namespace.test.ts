import assert from 'node:assert/strict';
import type { OperatedFacts } from '../../../src/features/survey/facts.ts';
import { readReaching } from '../../../src/features/survey/operated.ts';
import type { Kind, KubeObject } from '../../../src/kernel/object.ts';
import { contextOf, deployment, found, installation, object, resource, resources } from '../../fixtures/facts.ts';
import { checkCases } from '../../support/check-cases.ts';

const OWNED = { ownerReferences: [{ apiVersion: 'operator.tigera.io/v1', kind: 'Installation', name: 'default', uid: '1' }] };
const held = (...reaching: readonly KubeObject[]) => ({
  detection: found({ path: 'operator', variant: undefined }),
  operated: { reaching: { value: reaching } } as unknown as OperatedFacts,
});
const ingress = object('networking.k8s.io/v1', 'Ingress/calico-system/whisker');
const workload = (metadata: object) => ({ ...deployment('proxy'), metadata: { name: 'proxy', namespace: 'calico-system', ...metadata } });
const policy = (tier: string) => resources(resource('NetworkPolicy/calico-system/mine', { tier }));

checkCases('NS-632', {
  'does not apply without an operator': { is: 'not-applicable' },
  'passes where nothing leads there': { facts: held(), is: 'ok' },
  'warns of what leads there': { facts: held(ingress), is: 'warning', about: ['Ingress/calico-system/whisker'], hint: /tigera-prometheus/ },
  'passes where the operator made it': { facts: held({ ...ingress, metadata: { ...ingress.metadata, ...OWNED } }), is: 'ok' },
  'passes for a monitor where it may read': {
    facts: held(object('monitoring.coreos.com/v1', 'ServiceMonitor/tigera-prometheus/controllers')),
    is: 'ok',
  },
  'warns of a workload of one’s own': {
    facts: { ...held(), deployments: { value: [workload({})] } },
    is: 'warning',
    about: ['Deployment/calico-system/proxy'],
  },
  'passes with a workload of the operator': { facts: { ...held(), deployments: { value: [workload(OWNED)] } }, is: 'ok' },
  'warns of a policy of one’s own': {
    facts: { ...held(), resources: policy('default') },
    is: 'warning',
    about: ['NetworkPolicy/calico-system/mine'],
  },
  'passes with a policy that comes first': { facts: { ...held(), resources: policy('calico-system') }, is: 'ok' },
  'does not apply within the line': {
    facts: { ...held(ingress), detection: found({ path: 'operator', variant: undefined, release: 'v3.32.0' }) },
    is: 'not-applicable',
  },
});

describe('what leads to pods that the target guards', () => {
  const clusterWith = (...objects: readonly KubeObject[]) => {
    const listed: string[] = [];
    return {
      listed,
      resolve: async (apiVersion: string, kind: string): Promise<Kind | undefined> => {
        const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
        return kind === 'PodMonitor' ? undefined : { group, version, kind, plural: kind, namespaced: true };
      },
      list: async ({ kind }: Kind) => {
        listed.push(kind);
        return objects.filter((one) => one.kind === kind);
      },
    };
  };
  const service = (type: string) => object('v1', `Service/calico-system/${type.toLowerCase()}`, { spec: { type } });
  const monitor = (name: string, namespace: string) =>
    object('monitoring.coreos.com/v1', `ServiceMonitor/monitoring/${name}`, { spec: { namespaceSelector: { matchNames: [namespace] } } });

  it('is in the namespace, or selects it; Services are only those that are open to the outside', async () => {
    const cluster = clusterWith(
      ingress,
      object('networking.k8s.io/v1', 'Ingress/shop/shop'),
      service('ClusterIP'),
      service('NodePort'),
      monitor('calico', 'calico-system'),
      monitor('shop', 'shop'),
    );
    const reaching = await readReaching(cluster, contextOf(), installation);
    assert.deepEqual(
      reaching.map(({ metadata }) => metadata.name),
      ['nodeport', 'whisker', 'calico'],
    );
    assert.ok(!cluster.listed.includes('PodMonitor'));
  });

  it('is not asked for where the target guards no more than what is installed', async () => {
    const cluster = clusterWith(ingress);
    assert.deepEqual(await readReaching(cluster, contextOf(), { ...installation, release: 'v3.32.0' }), []);
    assert.deepEqual(cluster.listed, []);
  });
});
