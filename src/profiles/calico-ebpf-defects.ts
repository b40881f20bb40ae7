import type { Defect, DefectCondition } from '../kernel/defect.ts';
import { fixed, open, without } from './defect-lines.ts';

export const ebpf: DefectCondition = { type: 'ebpf' };
const redirects: DefectCondition = { type: 'setting', name: 'bpfRedirectToPeer', noneOf: ['Disabled'] };
const NO_REDIRECT = 'Or set bpfRedirectToPeer of the default FelixConfiguration to Disabled.';

/** Defects of the agents' eBPF programs, and of what they do instead of kube-proxy. */
export const calicoEbpfDefects: readonly Defect[] = [
  {
    id: 'ebpf-debug-verifier',
    of: 'agent',
    lines: [...open('v3.30'), fixed('v3.31.0', 'v3.31.7'), fixed('v3.32.0', 'v3.32.2')],
    when: [
      ebpf,
      { type: 'setting', name: 'bpfLogLevel', oneOf: ['Debug', 'debug'] },
      { type: 'node', field: 'kernelVersion', from: '5.15', before: '5.16' },
    ],
    severity: 'warning',
    symptom: 'calico-node stays unready: the verifier of the kernel refuses a program.',
    happens: 'kernels 5.15 may refuse the eBPF programs that are built with bpfLogLevel Debug',
    advice: 'Set bpfLogLevel of the default FelixConfiguration to Off before the upgrade.',
    sources: ['projectcalico/calico#10911', 'projectcalico/calico#13204', 'projectcalico/calico#13214', 'projectcalico/calico#13215'],
  },
  {
    id: 'ebpf-own-wireguard',
    of: 'agent',
    lines: [fixed('v3.32.0', 'v3.32.2')],
    when: [
      ebpf,
      { type: 'setting', name: 'wireguardListeningPort', oneOf: ['51820'], absent: true },
      {
        type: 'hostProgram',
        images: ['wireguard', 'wg-easy', 'wg-access-server', 'kilo', 'netbird', 'netmaker', 'netclient'],
        ports: ['UDP:51820'],
      },
    ],
    severity: 'warning',
    symptom: 'Your own WireGuard network between nodes stops with the new agent.',
    happens: 'the eBPF programs on the interfaces of a node drop WireGuard traffic on UDP port 51820 that is not of Calico',
    advice: 'If the nodes have a WireGuard network of their own, move it to another UDP port before the upgrade.',
    sources: ['projectcalico/calico#12900', 'projectcalico/calico#13135', 'projectcalico/calico#13137'],
  },
  {
    id: 'ebpf-balancer',
    of: 'agent',
    lines: [fixed('v3.29.0', 'v3.29.7'), fixed('v3.30.0', 'v3.30.5'), fixed('v3.31.0', 'v3.31.3')],
    when: [ebpf, { type: 'node', field: 'kernelVersion', from: '6.12' }],
    severity: 'warning',
    symptom: 'calico-node crash-loops: "Failed to attach connect-time load balancer".',
    happens: 'kernels since 6.12.53 and 6.17.5 refuse the eBPF programs of the connect-time load balancer, and the agent does not start',
    sources: ['projectcalico/calico#11302', 'awslabs/amazon-eks-ami#2511'],
  },
  {
    id: 'ebpf-bootstrap-api',
    of: 'agent',
    lines: [fixed('v3.31.0', 'v3.31.7'), fixed('v3.32.0', 'v3.32.2')],
    when: [ebpf, { type: 'installation', field: 'calicoNetwork.bpfNetworkBootstrap', oneOf: ['Enabled'] }],
    severity: 'warning',
    symptom: 'After an outage of the API server, agents cannot reach it until they are restarted.',
    happens:
      'an agent drops the endpoints of the API service while the server is away, and with bpfNetworkBootstrap it has no other way to it',
    sources: ['projectcalico/calico#13060', 'projectcalico/calico#13066', 'projectcalico/calico#13091'],
  },
  {
    id: 'ebpf-shared-nat-id',
    of: 'agent',
    lines: [...open('v3.31', 'v3.32'), without('v3.33.0')],
    when: [ebpf, { type: 'installation', field: 'calicoNetwork.bpfNetworkBootstrap', oneOf: ['Enabled'] }],
    severity: 'warning',
    symptom: 'Connections to service `kubernetes` reach pods of another service.',
    happens: 'with bpfNetworkBootstrap the API service may get the NAT id of another service, and the two overwrite each other',
    advice: 'Set bpfNetworkBootstrap to Disabled and give the address of the API server in ConfigMap kubernetes-services-endpoint.',
    sources: ['projectcalico/calico#13279', 'projectcalico/calico#13388'],
  },
  {
    id: 'ebpf-host-address',
    of: 'agent',
    lines: [...open('v3.28', 'v3.29', 'v3.30', 'v3.31'), fixed('v3.32.0', 'v3.32.1')],
    when: [ebpf],
    severity: 'warning',
    symptom: 'A node has no network after its agent restarted: calico-node logs "unknown host IP".',
    happens: 'an agent that restarts removes its eBPF programs, and attaches none before it knows the address of its node',
    sources: ['projectcalico/calico#12642'],
  },
  {
    id: 'ebpf-retransmitted-syn',
    of: 'agent',
    lines: [...open('v3.29', 'v3.30'), fixed('v3.31.0', 'v3.31.7'), fixed('v3.32.0', 'v3.32.2')],
    when: [ebpf, redirects],
    severity: 'warning',
    symptom: 'eBPF: a connection to a new pod passes although a policy denies it.',
    happens:
      'a TCP connection that was begun before the node knew the route of a new pod skips the ingress policies of that pod while it lives',
    advice: NO_REDIRECT,
    sources: ['projectcalico/calico#13356', 'projectcalico/calico#13389', 'projectcalico/calico#13390'],
  },
  {
    id: 'ebpf-virtual-machine',
    of: 'agent',
    lines: [...open('v3.31'), fixed('v3.32.0', 'v3.32.2')],
    when: [ebpf, redirects, { type: 'crd', name: 'virtualmachineinstances.kubevirt.io' }],
    severity: 'warning',
    symptom: 'eBPF: TCP connections to a virtual machine on the same node open and carry nothing.',
    happens: 'packets of pods to a virtual machine on their node go past the bridge before it, and the machine drops them',
    advice: NO_REDIRECT,
    sources: ['projectcalico/calico#13334', 'projectcalico/calico#13386'],
  },
  {
    id: 'ebpf-vpc-cni-routes',
    of: 'agent',
    lines: [fixed('v3.32.0', 'v3.32.2')],
    when: [ebpf, { type: 'daemonSet', namespace: 'kube-system', name: 'aws-node' }, { type: 'node', field: 'kernelVersion', from: '6.10' }],
    severity: 'error',
    symptom: 'eBPF: beside the AWS VPC CNI, DNS and other UDP of some pods times out.',
    happens:
      'packets of pods get the mark of answers to clients outside, by which the node sends them out of its primary interface: pods with an address of another interface lose them',
    sources: ['projectcalico/calico#13256', 'projectcalico/calico#13260', 'projectcalico/calico#11665'],
  },
];
