import assert from 'node:assert/strict';
import type { SettledFacts } from '../../../src/features/install-operator/settled-facts.ts';
import { isUntouched, readySince, settledLags, settledVerdict } from '../../../src/features/install-operator/settled-rule.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { netsvc } from '../../../src/profiles/netsvc.ts';
import { objectOf } from '../../support/inventory.ts';
import { api, components, operatorImage, SOURCE, SPACE, TARGET } from '../../support/netsvc-operated.ts';
import { NETSVC_TARGET, pattern } from '../../support/target.ts';

const { operator } = netsvc;
const names: SettledFacts['names'] = {
  deployment: { namespace: SPACE, name: SPACE },
  installation: { ...operator.installationKind, namespaced: false },
  agent: operator.agent,
  controllers: operator.controllers,
  images: ['node', 'kube-controllers', 'apiserver'],
  api: 'v3.netsvc.io',
  isServed: true,
  information: {
    kind: { group: 'crd.netsvc.io', version: 'v1', kind: 'ClusterInformation', plural: 'clusterinformations', namespaced: false },
    ...{ name: 'default', versionField: 'netsvcVersion' },
  },
};
const at = (second: number) => new Date(second * 1000).toISOString();

/** A pod of a workload's template, ready since a second. */
function podOf(
  workload: KubeObject,
  name: string,
  { since = 100, more = {}, ready = true }: { since?: number; more?: object; ready?: boolean } = {},
) {
  const { namespace, labels = {} } = workload.metadata;
  const { spec } = (
    workload.spec as { readonly template: { readonly spec: { readonly containers: readonly { readonly name: string }[] } } }
  ).template;
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: at(since) }];
  const containerStatuses = spec.containers.map((one, index) => ({ name: one.name, ready: ready || index > 0, state: { running: {} } }));
  return objectOf('v1', 'Pod', name, {
    metadata: { namespace, labels, uid: name, creationTimestamp: at(since), ...more },
    ...{ spec: { ...spec, nodeName: 'node-01' }, status: { phase: 'Running', conditions, containerStatuses } },
  }) as KubeObject;
}

/** As its controller reports one pod that is wholly there. */
function rolledOut(workload: KubeObject, counts: object = {}): KubeObject {
  const set = ['desiredNumberScheduled', 'currentNumberScheduled', 'updatedNumberScheduled', 'numberReady', 'numberAvailable'];
  const ones = [...set, 'replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration'];
  const status = { ...Object.fromEntries(ones.map((field) => [field, 1])), ...counts };
  return { ...workload, metadata: { ...workload.metadata, uid: workload.metadata.name, generation: 1 }, status } as KubeObject;
}

const deployment = rolledOut(
  objectOf('apps/v1', 'Deployment', SPACE, {
    metadata: { namespace: SPACE, labels: { name: SPACE } },
    spec: {
      ...{ replicas: 1, selector: { matchLabels: { name: SPACE } } },
      template: { spec: { containers: [{ name: SPACE, image: operatorImage(TARGET) }] } },
    },
  }),
);
const [service, apiService] = api;
const available = { ...apiService, status: { conditions: [{ type: 'Available', status: 'True' }] } } as KubeObject;
const workloads = components(TARGET, { name: 'default', uid: 'i' }).map((one) => rolledOut(one));
const [agents, controllers, server] = workloads as [KubeObject, KubeObject, KubeObject];
const old = components(SOURCE, { name: 'default', uid: 'i' }).map((one) => rolledOut(one)) as [KubeObject, KubeObject, KubeObject];
const operatorPod = podOf(deployment, 'operator-1', { since: 90 });
const pods = [operatorPod, ...workloads.map((one, index) => podOf(one, `pod-${index}`))];
const information = objectOf('crd.netsvc.io/v1', 'ClusterInformation', 'default', { spec: { netsvcVersion: TARGET } });

/** Wholly at the target. */
const whole: SettledFacts = {
  names,
  target: { release: TARGET, operatorImage: operatorImage(TARGET), digests: [] },
  ...{ deployment, workloads, pods, information, service },
  installation: objectOf('operator.netsvc.io/v1', 'Installation', 'default', { metadata: { uid: 'i', generation: 1 } }),
  ...{ apiService: available, nodes: [], timeMs: 200_000 },
};
const lags = (change: Partial<SettledFacts>) => settledLags({ ...whole, ...change }).map(({ subject, why }) => `${subject}: ${why}`);
const withPods = (...more: readonly KubeObject[]) => ({ pods: [...pods, ...more] });

describe('the rule for the end where a profile names no statuses', () => {
  it('holds where everything is at the target', () => assert.deepEqual(lags({}), []));

  const cases: Readonly<Record<string, readonly [Partial<SettledFacts>, RegExp]>> = {
    'there is no operator': [{ deployment: undefined }, /^Deployment\/netsvc-operator\/netsvc-operator: does not exist$/],
    'the operator has another image': [
      { target: { ...whole.target, operatorImage: operatorImage(SOURCE) } },
      /netsvc-operator: runs \S+operator:v1\.14\.0, not \S+operator:v1\.8\.3$/,
    ],
    'the controller has not seen the operator’s generation': [
      { deployment: { ...deployment, metadata: { ...deployment.metadata, generation: 2 } } },
      /netsvc-operator: its controller has not seen the change yet$/,
    ],
    'an older pod of the operator is stopping': [
      withPods(podOf(deployment, 'operator-0', { more: { deletionTimestamp: at(100) } })),
      /netsvc-operator: 1 of 2 pods is still stopping$/,
    ],
    'an older pod of the operator runs': [withPods(podOf(deployment, 'operator-0')), /netsvc-operator: 2 pods instead of 1$/],
    'the agents are missing': [{ workloads: [controllers, server] }, /^DaemonSet\/netsvc-system\/netsvc-node: does not exist$/],
    'the controllers are missing': [
      { workloads: [agents, server] },
      /^Deployment\/netsvc-system\/netsvc-kube-controllers: does not exist$/,
    ],
    'the agents are old': [
      { workloads: [old[0], controllers, server] },
      pattern`netsvc-node: runs \S+node:v3\.26\.4, not ${NETSVC_TARGET}`,
    ],
    'one container of the agents is old': [
      {
        workloads: [JSON.parse(JSON.stringify(agents).replace(`routes:${TARGET}`, `routes:${SOURCE}`)) as KubeObject, controllers, server],
      },
      pattern`^DaemonSet/netsvc-system/netsvc-node: runs \S+routes:v3\.26\.4, not ${NETSVC_TARGET}$`,
    ],
    'something else that the operator owns is old': [{ workloads: [agents, controllers, old[2]] }, /netsvc-apiserver: runs .*v3\.26\.4/],
    'a node’s agent is not updated': [
      { workloads: [rolledOut(agents, { updatedNumberScheduled: 0 }), controllers, server] },
      /netsvc-node: 0 of 1 pods have been updated$/,
    ],
    'READY of an agent is 1/2': [
      { pods: [operatorPod, podOf(agents, 'pod-0', { ready: false }), ...pods.slice(2)] },
      /netsvc-node: 1 of 1 pod has the new release and is not ready yet/,
    ],
    'an old agent is stopping': [
      withPods(podOf(agents, 'agent-old', { more: { deletionTimestamp: at(100) } })),
      /netsvc-node: 1 of 2 pods is still stopping/,
    ],
    'no agent is wanted': [
      { workloads: [rolledOut(agents, { desiredNumberScheduled: 0 }), controllers, server] },
      /netsvc-node: it wants no pod/,
    ],
    'the v3 API is gone': [{ apiService: undefined }, /^APIService\/v3\.netsvc\.io: does not exist$/],
    'the v3 API is away': [
      {
        apiService: {
          ...available,
          status: { conditions: [{ type: 'Available', status: 'False', reason: 'MissingEndpoints' }] },
        } as KubeObject,
      },
      /^APIService\/v3\.netsvc\.io: is not available \(MissingEndpoints\)$/,
    ],
    'nobody is behind the v3 API': [{ pods: pods.slice(0, 3) }, /^Service\/netsvc-system\/netsvc-api: has no pod behind it$/],
    'an old pod is behind the v3 API': [
      withPods(podOf(old[2], 'server-old', { more: { deletionTimestamp: at(100) } })),
      pattern`^Pod/netsvc-system/server-old: runs \S+apiserver:v3\.26\.4, not ${NETSVC_TARGET}$`,
    ],
    'ClusterInformation is behind': [
      { information: { ...information, spec: { netsvcVersion: SOURCE } } },
      pattern`^ClusterInformation/default: says v3\.26\.4, not ${NETSVC_TARGET}$`,
    ],
    'there is no ClusterInformation': [{ information: undefined }, /^ClusterInformation\/default: says no release/],
  };
  for (const [what, [change, words]] of Object.entries(cases))
    it(`does not hold where ${what}`, () =>
      assert.ok(
        lags(change).some((one) => words.test(one)),
        lags(change).join('\n') || 'it holds',
      ));

  it('asks for no v3 API where none was served', () => {
    assert.deepEqual(lags({ apiService: undefined, service: undefined, names: { ...names, isServed: false } }), []);
  });

  it('leaves alone what comes from elsewhere in a pod of the service', () => {
    const text = JSON.stringify(agents).replace(/("name":"netsvc-routes","image":)"[^"]+"/, '$1"docker.io/istio/proxyv2:1.2"');
    assert.deepEqual(lags({ workloads: [JSON.parse(text) as KubeObject, controllers, server] }), []);
  });

  it('takes an operator whose image got a digest from admission', () => {
    const pin = <T>(object: T) =>
      JSON.parse(JSON.stringify(object).replaceAll(operatorImage(TARGET), `${operatorImage(TARGET)}@sha256:0123`)) as T;
    assert.deepEqual(lags({ deployment: pin(deployment), pods: pin(pods) }), []);
    const target = { ...whole.target, operatorImage: operatorImage(SOURCE) };
    assert.match(lags({ deployment: pin(deployment), pods: pin(pods), target }).join(), /runs \S+@sha256:0123, not /);
  });

  it('takes an image by the digest of the target', () => {
    const digest = 'sha256:0123';
    const text = JSON.stringify(agents).replaceAll(`:${TARGET}`, `@${digest}`);
    const pinned = [JSON.parse(text) as KubeObject, controllers, server];
    assert.match(lags({ workloads: pinned }).join(), /tells no release/);
    const target = { ...whole.target, digests: [digest] };
    const running = pods.map(
      (one) => JSON.parse(JSON.stringify(one).replaceAll(new RegExp(`(node|routes):${TARGET}`, 'g'), `$1@${digest}`)) as KubeObject,
    );
    assert.deepEqual(lags({ workloads: pinned, pods: running, target }), []);
  });

  const beginners: Readonly<Record<string, Partial<SettledFacts>>> = {
    'a generation of the agents': { workloads: [generation(agents), controllers, server] },
    'a generation of the operator': { deployment: generation(deployment) },
    'a generation of the Installation': {
      installation: { ...(whole.installation as KubeObject), metadata: { name: 'default', uid: 'i', generation: 2 } },
    },
    'another workload of the operator': {
      workloads: [...workloads, ...more()],
      pods: [...pods, ...more().map((one) => podOf(one, 'more'))],
    },
    'an agent that became ready between two looks': { pods: [operatorPod, podOf(agents, 'pod-0', { since: 150 }), ...pods.slice(2)] },
    'a new start of the operator': { pods: [podOf(deployment, 'operator-1', { since: 95 }), ...pods.slice(1)] },
  };
  for (const [what, change] of Object.entries(beginners))
    it(`has to stay from the first on with ${what}`, () => {
      const second = settledVerdict({ ...whole, ...change });
      assert.deepEqual(second.lags, []);
      assert.notEqual(second.mark, settledVerdict(whole).mark);
    });

  it('tells components that were there before the operator from those that it has made, and since when all are ready', () => {
    assert.equal(isUntouched(whole), false);
    const late = podOf(deployment, 'operator-1', { since: 150 });
    assert.equal(isUntouched({ ...whole, pods: [late, ...pods.slice(1)] }), true);
    assert.deepEqual([readySince(whole), readySince({ ...whole, pods: [late, ...pods.slice(1)] })], [100_000, 150_000]);
  });
});

function generation(workload: KubeObject): KubeObject {
  return {
    ...workload,
    metadata: { ...workload.metadata, generation: 2 },
    status: { ...(workload.status as object), observedGeneration: 2 },
  } as KubeObject;
}

function more(): readonly KubeObject[] {
  const text = JSON.stringify(server).replaceAll('netsvc-apiserver', 'netsvc-more');
  return [JSON.parse(text) as KubeObject];
}
