import type { OperatedFacts } from '../../../src/features/survey/facts.ts';
import type { JsonMap } from '../../../src/kernel/json.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { netsvc } from '../../../src/profiles/netsvc.ts';
import { contextOf, found, NOW, object, resource, resources } from '../../fixtures/facts.ts';
import { upgradeTo } from '../../fixtures/stored-record.ts';
import { runRecord } from '../../support/apply-bench.ts';
import { checkCases } from '../../support/judged-worlds.ts';

const API = 'operator.tigera.io/v1';
const context = contextOf({}, calico);
const installed = (spec: JsonMap = {}, generation = 2) => object(API, 'Installation/default', { metadata: { generation }, spec });
const detection = (spec?: JsonMap) =>
  found({ path: 'operator', variant: undefined, hasApiServer: true, input: { resource: installed(spec), found: {} } });
const server = object(API, 'APIServer/default');
const status = (name: string, ...conditions: readonly object[]) => object(API, `TigeraStatus/${name}`, { status: { conditions } });
const condition = (type: string, value: string, more: object = {}) => ({ type, status: value, observedGeneration: 2, ...more });
const good = [condition('Available', 'True'), condition('Progressing', 'False'), condition('Degraded', 'False')];
const since = (ms: number) => ({ lastTransitionTime: new Date(NOW - ms).toISOString() });

type Change = { readonly [F in keyof OperatedFacts]?: unknown };
const operated = (change: Change = {}, spec?: JsonMap) => {
  const values = {
    installation: installed(spec),
    imageSets: [],
    gateways: [],
    components: [server],
    statuses: [status('calico', ...good)],
    ...change,
  };
  const readings = Object.fromEntries(Object.entries(values).map(([field, value]) => [field, { value }]));
  return { detection: detection(spec), operated: readings as unknown as OperatedFacts };
};
const withStatuses = (...statuses: readonly object[]) => operated({ statuses });
const degraded = condition('Degraded', 'True', {
  ...since(200 * 86_400_000),
  reason: 'InvalidConfigurationError',
  message: 'Invalid Installation provided: provider EKS in the spec, but OpenShift was detected',
});

const ofOperator = (spec: JsonMap, of: JsonMap) => object('apps/v1', 'Deployment/tigera-operator/tigera-operator', { spec, status: of });
const withOperator = found({
  ...{ path: 'operator', variant: undefined, input: { resource: installed(), found: {} } },
  operator: { namespace: 'tigera-operator', name: 'tigera-operator' },
});

const begun = (wrote: string) => ({
  value: runRecord({ clusterUid: context.clusterUid, intent: upgradeTo(context.goal.release, 'v3.27.5'), wrote: [wrote] }),
});

checkCases('NS-429', {
  'passes where every status is good': { context, facts: operated(), is: 'ok' },
  'fails of an operator that refuses its Installation, with its words and since when': {
    context,
    facts: withStatuses(status('calico', condition('Available', 'True'), condition('Progressing', 'False'), degraded)),
    is: 'error',
    about: ['TigeraStatus/calico'],
    says: /TigeraStatus\/calico is Degraded since 2025-06-15T12:00:00\.000Z \(200d\): InvalidConfigurationError: Invalid Installation/,
    next: /kubectl get tigerastatuses\.operator\.tigera\.io/,
  },
  'fails of an operator that does not run: its good statuses are old': {
    context,
    facts: { ...operated(), detection: withOperator, deployments: { value: [ofOperator({ replicas: 1 }, { unavailableReplicas: 1 })] } },
    is: 'error',
    about: ['Deployment/tigera-operator/tigera-operator'],
    says: /tigera-operator has no ready pod: its statuses are as it left them/,
  },
  'fails of one that is scaled to 0': {
    context,
    facts: { ...operated(), detection: withOperator, deployments: { value: [ofOperator({ replicas: 0 }, {})] } },
    is: 'error',
    says: /tigera-operator is scaled to 0/,
  },
  'passes where one of its pods is ready': {
    context,
    facts: {
      ...operated(),
      detection: withOperator,
      deployments: { value: [ofOperator({ replicas: 2 }, { readyReplicas: 1, unavailableReplicas: 1 })] },
    },
    is: 'ok',
  },
  'fails of conditions that are none': {
    context,
    facts: withStatuses(object(API, 'TigeraStatus/calico', { status: { conditions: 'all good' } })),
    is: 'error',
    says: /TigeraStatus\/calico has no conditions/,
  },
  'is not accepted as a whole': {
    context: contextOf({ accept: [{ check: 'NS-429' }] }, calico),
    facts: withStatuses(status('calico', degraded)),
    is: 'error',
  },
  'is accepted status by status': {
    context: contextOf({ accept: [{ check: 'NS-429', subject: 'TigeraStatus/calico' }] }, calico),
    facts: withStatuses(status('calico', degraded)),
    is: 'accepted',
  },
  // The rollout that the run itself began makes the agents unready: going on must not need a waiver.
  'warns only, when the run that goes on has begun the rollout': {
    context,
    facts: { ...withStatuses(status('calico', condition('Available', 'False'))), record: begun('apply') },
    is: 'warning',
    says: /the rollout that this run began is not finished: TigeraStatus\/calico/,
  },
  'fails where the run that goes on has replaced nothing yet': {
    context,
    facts: { ...withStatuses(status('calico', condition('Available', 'False'))), record: begun('crds') },
    is: 'error',
  },
  'fails of a status that is not available': {
    context,
    facts: withStatuses(status('apiserver', condition('Available', 'False', { reason: 'Unknown' }), condition('Degraded', 'False'))),
    is: 'error',
    says: /TigeraStatus\/apiserver is not Available: Unknown/,
  },
  'fails of a status without the condition': {
    context,
    facts: withStatuses(status('calico', condition('Degraded', 'False'))),
    is: 'error',
    says: /it has no such condition/,
  },
  'fails of a status without conditions': {
    context,
    facts: withStatuses(object(API, 'TigeraStatus/calico')),
    is: 'error',
    says: /has no conditions: the operator has not said how it is/,
  },
  'fails where there is no status': { context, facts: withStatuses(), is: 'error', says: /there is no TigeraStatus/ },
  'fails of an operator that has not answered': {
    context,
    facts: operated({ installation: installed({}, 3) }),
    is: 'error',
    says: /is about generation 2 of the Installation, which is at 3/,
  },
  'leaves an Installation that is being deleted to NS-114': {
    context,
    facts: operated({ installation: { ...installed(), metadata: { ...installed().metadata, generation: 3, deletionTimestamp: 'now' } } }),
    is: 'ok',
  },
  'passes with statuses of operators that write no generation': {
    context,
    facts: operated({ installation: installed({}, 3), statuses: [status('calico', { type: 'Available', status: 'True' })] }),
    is: 'ok',
  },
  'warns of what has been in progress for long': {
    context,
    facts: withStatuses(
      status(
        'calico',
        condition('Available', 'True'),
        condition('Progressing', 'True', { ...since(7_200_000), message: 'awaiting 1 nodes' }),
      ),
    ),
    is: 'warning',
    says: /is Progressing since .* \(120m\): awaiting 1 nodes/,
  },
  'passes while something rolls out': {
    context,
    facts: withStatuses(status('calico', condition('Available', 'True'), condition('Progressing', 'True', since(60_000)))),
    is: 'ok',
  },
  'leaves out what NS-627 explains': {
    context,
    facts: operated({ components: [], statuses: [status('calico', ...good), status('tiers', degraded)] }),
    is: 'ok',
  },
  'does not apply to a manifest install': { context, is: 'not-applicable' },
});

const going = { deletionTimestamp: '2026-05-04T08:10:00Z', finalizers: ['tigera.io/operator-cleanup'] };

checkCases('NS-114', {
  'passes where nothing is being deleted': { context, is: 'ok' },
  'passes with an operator': { context, facts: operated(), is: 'ok' },
  'fails with a namespace that is Terminating': {
    context,
    facts: {
      ...operated(),
      namespaces: {
        value: [object('v1', 'Namespace/calico-system', { metadata: going }), object('v1', 'Namespace/shop', { metadata: going })],
      },
    },
    is: 'error',
    about: ['Namespace/calico-system'],
    says: /Namespace\/calico-system: being deleted since 2026-05-04T08:10:00Z; it waits for tigera\.io\/operator-cleanup/,
  },
  'does not mind the old namespace of the API server, which the target’s operator deletes': {
    context,
    facts: { ...operated(), namespaces: { value: [object('v1', 'Namespace/calico-apiserver', { metadata: going })] } },
    is: 'ok',
  },
  'fails with a pool, and not with a policy of a user': {
    context,
    facts: { ...operated(), resources: resources(resource('IPPool/a', {}, going), resource('GlobalNetworkPolicy/mine', {}, going)) },
    is: 'error',
    about: ['IPPool/a'],
    next: /kubectl get ippools\.crd\.projectcalico\.org a -o yaml/,
  },
  'fails with an API server and a set of images': {
    context,
    facts: operated({
      components: [object(API, 'APIServer/default', { metadata: going })],
      imageSets: [object(API, 'ImageSet/calico-v3.32.1', { metadata: going })],
    }),
    is: 'error',
    about: ['APIServer/default', 'ImageSet/calico-v3.32.1'],
  },
  'takes no word for it': {
    context: contextOf({ accept: [{ check: 'NS-114' }] }, calico),
    facts: operated({ gateways: [object(API, 'GatewayAPI/default', { metadata: going })] }),
    is: 'error',
    about: ['GatewayAPI/default'],
    hint: /^Leave --accept NS-114 out/,
  },
  'says so of the Installation where the rest cannot be read': {
    context: contextOf({ accept: [{ check: 'NS-114' }] }, calico),
    facts: {
      namespaces: { unread: 'forbidden' },
      detection: found({
        deletions: [
          {
            ref: { apiVersion: API, kind: 'Installation', name: 'default' },
            detail: 'being deleted since May',
            hint: 'decide',
            next: 'kubectl get namespaces' as never,
          },
        ],
      }),
    },
    is: 'error',
    says: /Installation\/default: being deleted since May/,
  },
  'fails where namespaces cannot be read': { context, facts: { namespaces: { unread: 'forbidden' } }, is: 'error', says: /forbidden/ },
});

const felix = (bpfEnabled: boolean | undefined, annotation?: string) =>
  resources(
    resource(
      'FelixConfiguration/default',
      bpfEnabled === undefined ? {} : { bpfEnabled },
      annotation === undefined ? {} : { annotations: { 'operator.tigera.io/bpfEnabled': annotation } },
    ),
  );
const bpf = { calicoNetwork: { linuxDataplane: 'BPF' } };
const behindCli = (spec: object) => ({
  detection: found({ path: 'kvstore', datastore: 'kvstore' }),
  inStore: {
    value: {
      temporaryPolicies: [],
      agentConfigurations: [],
      clusterInformation: [object('projectcalico.org/v3', 'ClusterInformation/default', { spec })],
    },
  },
});

checkCases('NS-115', {
  'does not apply where the profile knows no procedures': { context: contextOf({}, netsvc), is: 'not-applicable' },
  'passes where nothing was begun': { context, is: 'ok' },
  'passes where both sides have eBPF': { context, facts: { ...operated({}, bpf), resources: felix(true, 'true') }, is: 'ok' },
  'passes where neither has': { context, facts: { ...operated(), resources: felix(false, 'false') }, is: 'ok' },
  'fails where somebody switched eBPF on beside the operator, in its words': {
    context,
    facts: { ...operated(), resources: felix(true) },
    is: 'error',
    about: ['FelixConfiguration/default'],
    says: /does not ask for eBPF, and bpfEnabled of the agents is true\. The operator refuses it: “unable to set bpfEnabled/,
  },
  'fails where the operator has not switched it on yet': {
    context,
    facts: { ...operated({}, bpf), resources: felix(undefined) },
    is: 'error',
    says: /asks for eBPF, and bpfEnabled of the agents is not set/,
  },
  'fails with a locked key-value store': {
    context,
    facts: behindCli({ datastoreReady: false }),
    is: 'error',
    about: ['ClusterInformation/default'],
    hint: /calicoctl datastore migrate unlock/,
    next: /^calicoctl get clusterinformations default -o yaml/,
  },
  'passes with an open one': { context, facts: behindCli({ datastoreReady: true }), is: 'ok' },
  'warns where the store cannot be asked': {
    context,
    facts: { ...behindCli({}), inStore: { unread: 'no calicoctl' } },
    is: 'warning',
    about: ['ClusterInformation/default'],
    says: /whether the datastore is locked could not be read: no calicoctl/,
    next: /^calicoctl get clusterinformations default -o yaml/,
  },
});

const chained = (name: string) => object('apps/v1', `DaemonSet/mesh/${name}`, { spec: {} });
const agents = (...containers: readonly string[]) =>
  object('apps/v1', 'DaemonSet/kube-system/calico-node', {
    spec: { template: { spec: { initContainers: containers.map((name) => ({ name })), containers: [{ name: 'calico-node' }] } } },
  });

checkCases('NS-430', {
  'warns whatever the service is called': {
    context: contextOf({}, netsvc),
    facts: {
      detection: found({ variant: 'netsvc' }),
      daemonSets: { value: [agents('install-cni'), chained('istio-cni-node')] },
    },
    is: 'warning',
    about: ['DaemonSet/mesh/istio-cni-node'],
  },
  'passes without another plugin': { context, facts: { daemonSets: { value: [agents('install-cni')] } }, is: 'ok' },
  'warns of a mesh and of Multus': {
    context,
    facts: { daemonSets: { value: [agents('install-cni'), chained('istio-cni-node'), chained('kube-multus-ds'), chained('proxy')] } },
    is: 'warning',
    about: ['DaemonSet/mesh/istio-cni-node', 'DaemonSet/mesh/kube-multus-ds'],
    hint: /restart pods of the mesh.*\n.*restart its DaemonSet/s,
  },
  'warns of other meshes, and passes plugins that stand beside the list': {
    context,
    facts: {
      daemonSets: {
        value: [
          agents('install-cni'),
          ...['kuma-cni-node', 'consul-cni', 'sriov-device-plugin', 'ovs-cni-amd64', 'whereabouts'].map(chained),
        ],
      },
    },
    is: 'warning',
    about: ['DaemonSet/mesh/kuma-cni-node', 'DaemonSet/mesh/consul-cni'],
    hint: /its plugin is in the list of each node again/,
  },
  'does not apply to agents that write no configuration': {
    context,
    facts: { daemonSets: { value: [agents(), chained('linkerd-cni')] } },
    is: 'not-applicable',
  },
});
