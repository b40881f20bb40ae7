import assert from 'node:assert/strict';
import { lostNames } from '../../../src/features/preflight/lost-names.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf, daemonSet, deployment, found, healthy, node, resource, resources } from '../../fixtures/facts.ts';
import { checkCases } from '../../support/judged-worlds.ts';
import { installed, operated } from '../../support/operated-facts.ts';

const context = contextOf({}, calico);
type Spec = Readonly<Record<string, unknown>>;
const peer = (name: string, spec: Spec) => resource(`BGPPeer/${name}`, spec);
const noMesh = resource('BGPConfiguration/default', { nodeToNodeMeshEnabled: false });
const ipip = resource('IPPool/a', { cidr: '10.0.0.0/16', ipipMode: 'Always', vxlanMode: 'Never' });
const named = (name: string, labels: Readonly<Record<string, string>> = {}, more: object = {}) => ({
  ...node(name),
  metadata: { name, labels, ...more },
});
const NODES = { value: [named('n1', { 'node-role.kubernetes.io/control-plane': '' }), named('n2'), named('n3')] };
const reflecting = () => {
  const annotations = { 'projectcalico.org/RouteReflectorClusterID': '244.0.0.1' };
  return { value: [named('n1', { 'node-role.kubernetes.io/control-plane': '' }, { annotations }), ...NODES.value.slice(1)] };
};
const toReflectors = peer('rr', {
  nodeSelector: '!has(node-role.kubernetes.io/control-plane)',
  peerSelector: 'has(node-role.kubernetes.io/control-plane)',
});
const without = (...peers: readonly ReturnType<typeof peer>[]) => ({ nodes: NODES, resources: resources(noMesh, ipip, ...peers) });

checkCases('NS-509', {
  'stops where the label of the route reflectors is gone': {
    context,
    facts: without(peer('rr', { nodeSelector: 'all()', peerSelector: 'has(node-role.kubernetes.io/master)' })),
    is: 'error',
    about: ['BGPPeer/rr', 'Node/n1', 'Node/n2', 'Node/n3'],
    says: /the mesh is off, and 3 nodes without any BGP peer/,
    details: [/^peerSelector has\(node-role\.kubernetes\.io\/master\) selects none$/, /^no BGPPeer selects it$/],
    next: /^kubectl get bgppeers\.crd\.projectcalico\.org -o yaml$/,
  },
  'passes where it is there: the reflector has the others as peers, too': {
    context,
    facts: { ...without(toReflectors), nodes: reflecting() },
    is: 'ok',
  },
  'warns where the reflectors lost their cluster ID: nobody passes routes on': {
    context,
    facts: without(toReflectors),
    is: 'warning',
    about: ['Node/n2', 'Node/n3'],
    says: /the mesh is off, and 2 nodes whose peers are other nodes without a cluster ID/,
    details: [/^none of its peers is a route reflector$/],
    hint: /annotation projectcalico\.org\/RouteReflectorClusterID/,
    next: /^kubectl get bgppeers\.crd\.projectcalico\.org -o yaml$/,
  },
  'passes without a reflector where every node is a peer of every other': {
    context,
    facts: without(peer('all', { nodeSelector: 'all()', peerSelector: 'all()' })),
    is: 'ok',
  },
  'passes without a reflector where a router reflects': {
    context,
    facts: without(toReflectors, peer('tor', { peerIP: '192.0.2.1' })),
    is: 'ok',
  },
  'passes where nodes have an AS of their own: any router passes routes on between two': {
    context,
    facts: {
      ...without(toReflectors),
      nodes: { value: [...NODES.value, named('n4', {}, { annotations: { 'projectcalico.org/ASNumber': '64513' } })] },
    },
    is: 'ok',
  },
  'stops with the mesh on before a reflector without a peer: the mesh leaves it out': {
    context,
    facts: { nodes: reflecting(), resources: resources(ipip, peer('rr', { nodeSelector: 'all()', peerSelector: "rr == 'true'" })) },
    is: 'error',
    about: ['BGPPeer/rr', 'Node/n1'],
    says: /the mesh leaves route reflectors out, and 1 route reflector without any BGP peer/,
  },
  'passes with the mesh on where the reflector has peers': {
    context,
    facts: { nodes: reflecting(), resources: resources(ipip, toReflectors) },
    is: 'ok',
  },
  'stops before the reflector that nobody peers with back': {
    context,
    facts: without(
      peer('rr', {
        ...{ nodeSelector: '!has(node-role.kubernetes.io/control-plane)', peerSelector: 'has(node-role.kubernetes.io/control-plane)' },
        reversePeering: 'Manual',
      }),
    ),
    is: 'error',
    about: ['Node/n1'],
  },
  'stops before nodes that no peer selects, and says which peer is for a node that is gone': {
    context,
    facts: without(peer('one', { node: 'n1', peerIP: '192.0.2.1' }), peer('gone', { node: 'n9', peerIP: '192.0.2.1' })),
    is: 'error',
    about: ['BGPPeer/gone', 'Node/n2', 'Node/n3'],
    details: [/^node n9 is no node of the cluster$/],
  },
  'stops before a selector that cannot be parsed, and names the column': {
    context,
    facts: without(peer('rr', { nodeSelector: 'all()', peerSelector: 'role = "rr"' })),
    is: 'error',
    details: [/^spec\.peerSelector is no selector: .*column/],
  },
  'stops where a node is a peer of itself alone': {
    context,
    facts: without(
      peer('rr', {
        nodeSelector: 'has(node-role.kubernetes.io/control-plane)',
        peerSelector: 'has(node-role.kubernetes.io/control-plane)',
      }),
    ),
    is: 'error',
    details: [/selects no two different nodes/],
  },
  'stops with the mesh off and no peer at all': { context, facts: without(), is: 'error', about: ['Node/n1', 'Node/n2', 'Node/n3'] },
  'passes with a router for all nodes': { context, facts: without(peer('tor', { peerIP: '192.0.2.1:179' })), is: 'ok' },
  'takes labels that the service’s CLI gave a node': {
    context,
    facts: {
      ...without(peer('rr', { nodeSelector: 'all()', peerSelector: "rr == 'true'" })),
      nodes: { value: [named('n1', {}, { annotations: { 'projectcalico.org/labels': '{"rr":"true"}' } }), named('n2')] },
    },
    is: 'ok',
  },
  'passes where the agents set the routes themselves': {
    context,
    facts: { nodes: NODES, resources: resources(noMesh, resource('IPPool/a', { cidr: '10.0.0.0/16', vxlanMode: 'CrossSubnet' })) },
    is: 'ok',
  },
  'does not apply where no BGP runs': {
    context,
    facts: {
      ...without(),
      daemonSets: {
        value: [
          daemonSet({
            template: { spec: { containers: [{ name: 'calico-node', env: [{ name: 'CALICO_NETWORKING_BACKEND', value: 'vxlan' }] }] } },
          }),
        ],
      },
    },
    is: 'not-applicable',
  },
  'passes with the mesh': { context, facts: { nodes: NODES, resources: resources(ipip) }, is: 'ok' },
});

const policy = (name: string, spec: Spec) => resource(`GlobalNetworkPolicy/${name}`, { tier: 'default', types: ['Ingress'], ...spec });
const CALICO_IPAM = { value: resource('ConfigMap/kube-system/calico-config', {}, {}) };
const asking = (more: string) => ({
  value: { ...CALICO_IPAM.value, data: { cni_network_config: `{"ipam":{"type":"calico-ipam",${more}}}` } },
});
const agentConfig = { value: { ...CALICO_IPAM.value, data: { cni_network_config: '{"ipam":{"type":"calico-ipam"}}' } } };
const ofControlPlane = resource('IPPool/a', { cidr: '10.0.0.0/16', nodeSelector: 'has(node-role.kubernetes.io/control-plane)' });
const six = resource('IPPool/six', { cidr: 'fd00::/48' });
const sixOfControlPlane = resource('IPPool/six', { cidr: 'fd00:1::/48', nodeSelector: 'has(node-role.kubernetes.io/control-plane)' });

checkCases('NS-510', {
  'warns of a selector that cannot be parsed, in a policy, in a rule of it, a pool and a peer': {
    context,
    facts: {
      resources: resources(
        policy('a', { selector: 'role = "x"' }),
        policy('b', { selector: 'all()', ingress: [{ action: 'Allow', source: { selector: 'has(role' } }] }),
        resource('IPPool/p', { cidr: '10.0.0.0/16', nodeSelector: 'zone in [a]', disabled: true }),
        peer('rr', { peerSelector: 'has rr' }),
      ),
    },
    is: 'warning',
    about: ['BGPPeer/rr', 'IPPool/p', 'GlobalNetworkPolicy/a', 'GlobalNetworkPolicy/b'],
    details: [
      /^spec\.peerSelector is no selector/,
      /^spec\.nodeSelector is no/,
      /^spec\.selector is no/,
      /^spec\.ingress\[0\]\.source\.selector is no/,
    ],
    next: /^kubectl get bgppeer\.crd\.projectcalico\.org rr -o yaml$/,
  },
  'leaves a rule to another check, whatever words are in it': {
    context,
    facts: { resources: resources(policy('a', { selector: 'all()', ingress: [{ action: 'Allow', protocol: 'is no selector' }] })) },
    is: 'ok',
  },
  'stops before a pool in use whose selector cannot be parsed': {
    context,
    facts: {
      resources: resources(
        resource('IPPool/a', { cidr: '10.0.0.0/16' }),
        resource('IPPool/p', { cidr: '10.1.0.0/16', nodeSelector: 'zone in [a]' }),
        resource('IPPool/q', { cidr: '10.2.0.0/16', nodeSelector: 'zone in [a]', assignmentMode: 'Manual' }),
      ),
    },
    is: 'error',
    about: ['IPPool/p', 'IPPool/q'],
    details: [/^spec\.nodeSelector is no.*: no pod gets an address that names no pool$/, /^spec\.nodeSelector is no/],
  },
  'warns of a rule for hosts that selects no host endpoint': {
    context,
    facts: {
      resources: resources(
        policy('drop', { selector: "role == 'edge'", preDNAT: true, applyOnForward: true }),
        resource('HostEndpoint/h', { node: 'n1', interfaceName: 'eth0' }, { labels: { role: 'egde' } }),
      ),
    },
    is: 'warning',
    about: ['GlobalNetworkPolicy/drop'],
    details: [/^selector role == 'edge' selects no host endpoint$/],
  },
  'warns of a peer whose filter is not there, and passes one whose filter is': {
    context,
    facts: {
      resources: resources(
        resource('BGPFilter/there', {}),
        peer('a', { filters: ['there'] }),
        peer('b', { filters: ['there', 'gone'] }),
        peer('c', {}),
      ),
    },
    is: 'warning',
    about: ['BGPPeer/b'],
    details: [/^spec\.filters: there is no BGPFilter gone: it filters nothing$/],
  },
  'warns of a host endpoint that means a node by another name': {
    context,
    facts: {
      nodes: { value: [{ ...node('n1.example.com'), status: { addresses: [{ type: 'InternalIP', address: '192.0.2.1' }] } }] },
      resources: resources(
        resource('HostEndpoint/short', { node: 'n1', interfaceName: '*' }),
        resource('HostEndpoint/upper', { node: 'N1.example.com', interfaceName: '*' }),
        resource('HostEndpoint/address', { node: 'old', expectedIPs: ['192.0.2.1'] }),
        resource('HostEndpoint/right', { node: 'n1.example.com', interfaceName: '*' }),
        // A host beside the cluster.
        resource('HostEndpoint/beside', { node: 'vm-7', expectedIPs: ['192.0.2.77'] }),
      ),
    },
    is: 'warning',
    about: ['HostEndpoint/short', 'HostEndpoint/upper', 'HostEndpoint/address'],
    details: [/^spec\.node: there is no node n1; Node\/n1\.example\.com may be meant$/],
  },
  'passes where a host of another network shares the first number with a node that is called by its address': {
    context,
    facts: {
      nodes: { value: [node('10.177.1.2'), node('10')] },
      resources: resources(resource('HostEndpoint/h', { node: '10.176.48.79', interfaceName: 'eth0', expectedIPs: ['10.176.48.79'] })),
    },
    is: 'ok',
  },
  'passes where it selects one by labels that the v3 API keeps': {
    context,
    facts: {
      resources: resources(
        policy('drop', { selector: "role == 'edge'", doNotTrack: true }),
        resource('HostEndpoint/h', { node: 'n1' }, { annotations: { 'projectcalico.org/metadata': '{"labels":{"role":"edge"}}' } }),
      ),
    },
    is: 'ok',
  },
  'warns of a node that no pool selects': {
    context,
    facts: {
      nodes: NODES,
      agentConfig,
      resources: resources(resource('IPPool/a', { cidr: '10.0.0.0/16', nodeSelector: 'has(node-role.kubernetes.io/control-plane)' })),
    },
    is: 'warning',
    about: ['Node/n2', 'Node/n3'],
    details: [/^no enabled IPv4 pool for pods selects it: new pods there get no address$/],
    next: /^kubectl get node n2 -o yaml$/,
  },
  'warns where the only pool for such a node is not for pods': {
    context,
    facts: {
      nodes: NODES,
      agentConfig,
      resources: resources(ofControlPlane, resource('IPPool/lb', { cidr: '10.9.0.0/24', allowedUses: ['LoadBalancer'] })),
    },
    is: 'warning',
    about: ['Node/n2', 'Node/n3'],
  },
  'warns of nodes that have a pool of one family alone, where pods get both': {
    context,
    facts: { nodes: NODES, agentConfig: asking('"assign_ipv6": "true"'), resources: resources(ofControlPlane, six) },
    is: 'warning',
    about: ['Node/n2', 'Node/n3'],
    details: [/^no enabled IPv4 pool for pods/],
  },
  'warns of IPv6 alike': {
    context,
    facts: {
      nodes: NODES,
      agentConfig: asking('"assign_ipv6": "true"'),
      resources: resources(
        resource('IPPool/a', { cidr: '10.0.0.0/16' }),
        resource('IPPool/s', { cidr: 'fd00::/48', nodeSelector: '!all()' }),
        sixOfControlPlane,
      ),
    },
    is: 'warning',
    about: ['Node/n2', 'Node/n3'],
    details: [/^no enabled IPv6 pool for pods/],
  },
  'warns of pools that are all disabled': {
    context,
    facts: { nodes: NODES, agentConfig, resources: resources(resource('IPPool/a', { cidr: '10.0.0.0/16', disabled: true }), six) },
    is: 'warning',
    about: ['IPPool/a'],
    details: [/^is disabled, as all IPv4 pools are: new pods get no address$/],
  },
  'passes where one is left that pods may name': {
    context,
    facts: {
      nodes: NODES,
      agentConfig,
      resources: resources(
        resource('IPPool/a', { cidr: '10.0.0.0/16', disabled: true }),
        resource('IPPool/b', { cidr: '10.1.0.0/16', assignmentMode: 'Manual' }),
      ),
    },
    is: 'ok',
  },
  'passes where no address of that family is asked for': {
    context,
    facts: { nodes: NODES, agentConfig, resources: resources(resource('IPPool/a', { cidr: '10.0.0.0/16' }), sixOfControlPlane) },
    is: 'ok',
  },
  'asks for the families that have pools where an operator writes the configuration': {
    context,
    facts: {
      ...operated({ installation: installed({}) }),
      nodes: NODES,
      resources: resources(resource('IPPool/a', { cidr: '10.0.0.0/16' }), sixOfControlPlane),
    },
    is: 'warning',
    details: [/^no enabled IPv6 pool for pods/],
  },
  'passes with pools kept for those who name them': {
    context,
    facts: { nodes: NODES, agentConfig, resources: resources(resource('IPPool/a', { cidr: '10.0.0.0/16', nodeSelector: '!all()' })) },
    is: 'ok',
  },
  'passes where others give the addresses': {
    context,
    facts: { nodes: NODES, resources: resources(resource('IPPool/a', { cidr: '10.0.0.0/16', nodeSelector: 'has(nothing)' })) },
    is: 'ok',
  },
  'passes without any': { context, is: 'ok' },
});

const placed = (pod: object) => ({
  detection: found({
    components: [
      {
        component: 'controllers',
        workload: 'Deployment/kube-system/calico-kube-controllers',
        container: 'calico-kube-controllers',
        image: 'x',
      },
    ] as never,
  }),
  nodes: NODES,
  deployments: { value: [deployment('calico-kube-controllers', { template: { spec: pod } })] },
});
const affinity = (matchExpressions: readonly object[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } } },
});

checkCases('NS-412', {
  'stops where the label that the controllers want is gone': {
    context,
    facts: placed({ nodeSelector: { 'node-role.kubernetes.io/master': '' } }),
    is: 'error',
    about: ['Deployment/kube-system/calico-kube-controllers'],
    details: [/^nodeSelector \{"node-role\.kubernetes\.io\/master":""\}$/],
    next: /^kubectl -n kube-system get deployment calico-kube-controllers -o yaml$/,
  },
  'stops before a required affinity that no node has': {
    context,
    facts: placed(affinity([{ key: 'pool', operator: 'In', values: ['infra'] }])),
    is: 'error',
    details: [/nodeAffinity .*infra/],
  },
  'stops where every node repels it': {
    context,
    facts: {
      ...placed({ tolerations: [{ key: 'other', operator: 'Exists' }] }),
      nodes: { value: [{ ...node('n1'), spec: { taints: [{ key: 'dedicated', value: 'gpu', effect: 'NoSchedule' }] } }] },
    },
    is: 'error',
  },
  'passes where it tolerates the taint, or a node is only not ready': {
    context,
    facts: {
      ...placed({ tolerations: [{ key: 'dedicated', value: 'gpu', effect: 'NoSchedule' }] }),
      nodes: {
        value: [
          {
            ...node('n1'),
            spec: {
              taints: [
                { key: 'dedicated', value: 'gpu', effect: 'NoSchedule' },
                { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' },
              ],
            },
          },
        ],
      },
    },
    is: 'ok',
  },
  'passes with one node that fits': {
    context,
    facts: placed({
      nodeSelector: { 'node-role.kubernetes.io/control-plane': '' },
      ...affinity([{ key: 'gone', operator: 'DoesNotExist' }]),
    }),
    is: 'ok',
  },
  'passes on a healthy cluster': { context, is: 'ok' },
});

describe('hosts of host endpoints', () => {
  it('are compared with the addresses of each node once, however many there are', () => {
    let reads = 0;
    const nodes = Array.from({ length: 100 }, (_, number) => ({
      ...node(`n${number}`),
      get status() {
        reads += 1;
        return { addresses: [{ type: 'InternalIP', address: `192.0.2.${number}` }] };
      },
    }));
    const outside = Array.from({ length: 50 }, (_, number) => resource(`HostEndpoint/h${number}`, { node: `vm-${number}` }));
    assert.deepEqual(lostNames({ ...healthy, nodes: { value: nodes }, resources: resources(...outside) }), []);
    assert.equal(reads, nodes.length);
  });
});
