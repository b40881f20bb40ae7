import type { OperatedFacts } from '../../../src/features/survey/facts.ts';
import type { Defect } from '../../../src/kernel/defect.ts';
import type { Profile } from '../../../src/kernel/profile.ts';
import { isOlder } from '../../../src/kernel/release.ts';
import type { RunRecord } from '../../../src/kernel/run-record.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { netsvc } from '../../../src/profiles/netsvc.ts';
import { contextOf, daemonSet, found, node, object, resource, resources, targetOf } from '../../fixtures/facts.ts';
import { checkCases } from '../../support/judged-worlds.ts';

/** The target as it is merged, with the agents' image as it will run. */
const byImage = (image: string) => ({
  target: targetOf(daemonSet({ template: { spec: { containers: [{ name: 'calico-node', image }] } } })),
});
const runs = (release: string) => byImage(`quay.io/calico/node:${release}`);
/** As it was with v3.32.1 as the target: the rows are about defects of these very releases. */
const then: Profile = {
  ...calico,
  defaultRelease: 'v3.32.1',
  testedLines: calico.testedLines.filter(({ newest }) => isOlder(newest, 'v3.33.0')),
};
const v3320 = contextOf({ release: 'v3.32.0' }, then);
const v3321 = contextOf({ release: 'v3.32.1' }, then);
const v3322 = contextOf({ release: 'v3.32.2' }, then);
const nft = { proxyMode: { value: 'nftables' } };
/** Without the fast path to pods, which has defects of its own. */
const felix = (spec: object) => resources(resource('FelixConfiguration/default', { bpfRedirectToPeer: 'Disabled', ...spec }));
const nodes = (info: Readonly<Record<string, string>>) => ({ nodes: { value: [node('n1'), node('n2', { info })] } });
const lists = resources(resource('BGPConfiguration/default', { serviceClusterIPs: [{ cidr: '10.96.0.0/12' }] }));
const hostProgram = (image: string, hostNetwork = true) =>
  object('apps/v1', 'DaemonSet/vpn/agent', { spec: { template: { spec: { hostNetwork, containers: [{ name: 'agent', image }] } } } });
const operated = (linuxDataplane: string) =>
  ({
    installation: { value: object('operator.tigera.io/v1', 'Installation/default', { spec: { calicoNetwork: { linuxDataplane } } }) },
  }) as unknown as OperatedFacts;
const onOperator = (linuxDataplane: string) => ({
  detection: found({ path: 'operator', variant: undefined }),
  operated: operated(linuxDataplane),
});
const withAddress = (address: string) => ({
  ...node('n1'),
  status: { ...(node('n1').status as object), addresses: [{ type: 'InternalIP', address }] },
});
const loadBalancer = resource('IPPool/lb', { cidr: '10.9.0.0/24', allowedUses: ['LoadBalancer'] });

const own: Defect = {
  id: 'ours',
  of: 'target',
  lines: [{ from: 'v3.32.1', openOn: '2026-08-22' }],
  when: [{ type: 'crd', name: 'felixconfigurations.crd.projectcalico.org' }],
  severity: 'error',
  symptom: 'It burns.',
  happens: 'it burns',
  advice: 'Do not.',
  sources: ['example/ours#1'],
};

const awsNode = (desiredNumberScheduled: number) =>
  object('apps/v1', 'DaemonSet/kube-system/aws-node', { spec: {}, status: { desiredNumberScheduled } });
const byOperator = { detection: found({ path: 'operator', variant: undefined }) };
const installationOf = (calicoNetwork: object, rest: object = {}) =>
  ({
    installation: { value: object('operator.tigera.io/v1', 'Installation/default', { spec: { calicoNetwork, ...rest } }) },
  }) as unknown as OperatedFacts;
const operatorWith = (spec: object) =>
  object('apps/v1', 'Deployment/tigera-operator/tigera-operator', {
    spec: { template: { spec: { dnsPolicy: 'ClusterFirstWithHostNet', ...spec } } },
  });
const endpoint = (host: string) => ({
  value: [object('v1', 'ConfigMap/tigera-operator/kubernetes-services-endpoint', { data: { KUBERNETES_SERVICE_HOST: host } })],
});
const byName = { ...byOperator, operated: operated('Iptables'), configMaps: endpoint('api.internal.example') };

const byOwnName = { ...byOperator, operated: operated('Iptables') };
const hostOf = (value: string) => ({ containers: [{ name: 'tigera-operator', env: [{ name: 'KUBERNETES_SERVICE_HOST', value }] }] });

const withRow = (...when: Defect['when']) => contextOf({}, { ...calico, defects: [{ ...own, when }] });

const kernels = {
  false: [
    '4.18.0-553.16.1.el8_10.x86_64',
    '5.14.0-427.el9_4.x86_64+rt',
    '3.10.0-1160.el7.x86_64',
    '5.15.0-208.159.3.el8uek.x86_64',
    '5.10.205-195.807.amzn2.x86_64',
    '6.1.79-99.167.amzn2023.aarch64',
    '6.8.5-201.fc39.x86_64',
    '6.1.0-18-amd64',
    '6.1.0-22-cloud-amd64',
    '6.12.38+deb13-cloud-arm64',
    '6.1.0-9-rt-amd64',
    '5.15.0-91-generic',
    '6.8.0-45-generic-64k',
    '6.8.0-1019-aws',
    '5.15.0-1064-azure',
    '5.15.0-1049-gcp',
    '5.15.0-1052-oracle',
    '5.15.0-1060-raspi',
    '5.15.0-100-lowlatency',
    '5.15.0-1058-kvm',
    '5.4.0-1100-gke',
    '6.5.0-1024-oem',
    '5.15.0-1030-nvidia-tegra',
    '6.4.0-150600.23.7-default',
    '5.3.18-24.67-preempt',
    '6.6.54-flatcar',
    '6.6.58-talos',
    '6.1.58+',
    '5.15.108',
    '6.6.95',
    '10.0.20348.2700',
    '5.4.0-88-generic',
    '5.15.49-linuxkit',
    '6.6.12-linuxkit-1a2b3c4d',
    '5.15.153.1-microsoft-standard-WSL2',
    '6.1.90-1.ph5',
    '4.19.310-1.ph3-esx',
    '6.9.7-arch1-1',
    '6.6.36-1-lts',
    '6.6.31-0-virt',
    '6.6.35.1-5.azl3',
    '5.15.158.2-1.cm2',
    '6.8.12-4-pve',
    '6.6.31+rpt-rpi-v8',
    '5.10.134-16.al8.x86_64',
    '4.19.90-2003.oe1.aarch64',
    '5.4.119-19-0009.11',
    '5.4.241-1-tlinux4-0017',
    '6.6.30_1',
    // The same of each architecture.
    '5.10.0-136.49.0.127.ctl3.aarch64',
    '5.10.0-136.49.0.127.ctl3.x86_64',
    '4.19.90-2305.1.0.0199.56.uel20.aarch64',
    '5.10.134-13.1.zncgsl6.aarch64',
    '5.10.134-12.2.nfs4.aarch64',
    '6.6.31-2.red80.aarch64',
    '5.10.112-005.ali5000.alios7.aarch64',
    '6.4.0-150600.23.17-64kb',
    '5.14.21-150400.24.100.1.26110.0.PTF.1218447-default',
    '6.10.5-1.g59ac6cb-default',
    '5.10.200-std-def-alt1',
    '6.12.21-6.12-alt1',
    '6.1.112-1.20241019-vyos',
    '6.6.72-3.velinux',
    '5.15.0-1037-iot',
    '6.8.0-1049-qcom',
    '5.15.0-1036-mtk',
    '6.1.31-current-rockchip64',
    '6.6.62-current-bcm2711',
    '6.6.9-rt-arm64',
    '4.19.0-arm64-desktop',
  ],
  true: [
    '5.10.160-vendor-rk3588',
    '6.1.75-vendor-rk35xx',
    '5.15.148-tegra',
    '5.4.61-sunxi64',
    '4.9.241-meson64',
    '6.1.21-v8+',
    '5.10.104-imx8',
    '6.6.0-custom',
    '5.10.110-rockchip-rk3588',
    '4.19.232-bananapi',
    '6.6.8-myhost',
    '5.15.0-yocto-standard',
    '5.10.110-board-x86_64',
    '6.6.52-gentoo-x86_64',
    '5.10.66-rockchip-arm64',
    '4.19.111-sunxi64-arm64',
  ],
};

for (const [hits, versions] of Object.entries(kernels))
  checkCases(
    'NS-609',
    Object.fromEntries(
      versions.map((kernelVersion) => [
        `${hits === 'true' ? 'warns of' : 'passes on'} kernel ${kernelVersion}`,
        {
          context: v3322,
          facts: { ...runs('v3.32.2'), ...nodes({ kernelVersion }) },
          ...(hits === 'true' ? { is: 'warning' as const, about: ['securityfs'] } : { is: 'ok' as const }),
        },
      ]),
    ),
  );

const released: Parameters<typeof checkCases>[1] = {
  'passes on a cluster without any of the conditions': { is: 'ok', says: /no known defect of v3\.32\.1/ },
  'names the release, what happens and the release without the defect': {
    context: v3320,
    facts: { resources: lists },
    is: 'warning',
    says: /^v3\.32\.0 has a defect that hits this cluster: server-side apply of a BGPConfiguration/,
    about: ['bgp-lists'],
    details: [/Seen on: BGPConfiguration\/default\. See projectcalico\/calico#12700/],
    hint: /^Fixed in v3\.32\.1: --release v3\.32\.1\. v3\.32\.1 has 0 defects that hit this cluster, v3\.32\.0 has 1\.$/,
    next: /^kubectl netsvc-upgrade preflight --release v3\.32\.1$/,
  },
  'passes with the release that fixes it': { facts: { resources: lists }, is: 'ok' },
  'does not apply to a profile without a table': { context: contextOf({}, netsvc), is: 'not-applicable' },
  'stops where the nft of the image crashes beside that of the host': {
    context: v3320,
    facts: { ...runs('v3.32.0'), ...nft, ...nodes({ osImage: 'Debian GNU/Linux 13 (trixie)' }) },
    is: 'error',
    about: ['nft-crash', 'nft-overlap'],
    details: [/Seen on: Node\/n2 Debian GNU\/Linux 13 \(trixie\)/],
    says: /^2 known defects of v3\.32\.0 hit this cluster: nft-crash, nft-overlap$/,
  },
  'passes on the same nodes where the agents use iptables': {
    context: v3320,
    facts: { ...runs('v3.32.0'), ...nodes({ osImage: 'Debian GNU/Linux 13 (trixie)' }) },
    is: 'ok',
  },
  'goes by the image that the agents will run, where it is pinned': {
    facts: { ...runs('v3.32.0'), ...nft },
    is: 'error',
    about: ['nft-overlap'],
  },
  'goes by the Installation where an operator sets the packet filter': {
    context: contextOf({ release: 'v3.32.0' }, then),
    facts: { ...runs('v3.32.0'), ...nft, ...onOperator('Nftables') },
    is: 'error',
    about: ['nft-overlap'],
  },
  'passes where the operator lets the agents follow kube-proxy to iptables': {
    context: v3320,
    facts: { ...runs('v3.32.0'), ...onOperator('Nftables') },
    is: 'ok',
  },
  'warns of nftables settings that the operator has ignored, though the mode is Enabled until then': {
    facts: {
      ...runs('v3.32.1'),
      ...nft,
      ...onOperator('Nftables'),
      resources: felix({ nftablesMarkMask: 65280, nftablesMode: 'Enabled' }),
    },
    is: 'warning',
    about: ['nft-settings-operator'],
  },
  'passes where the operator keeps the agents at iptables beside nftables': {
    context: v3320,
    facts: { ...runs('v3.32.0'), ...nft, ...onOperator('Iptables') },
    is: 'ok',
  },
  'warns of nftables settings that Auto ignores': {
    facts: { ...runs('v3.32.1'), ...nft, resources: felix({ nftablesMarkMask: 65280 }) },
    is: 'warning',
    about: ['nft-settings-auto'],
    hint: /^Fixed in v3\.33\.0: --release v3\.33\.0, with its files in a folder .* Set nftablesMode of the default FelixConfiguration to Enabled before the upgrade\. v3\.33\.0 \(its sums are not known here\) has 1 defect that hits this cluster, v3\.32\.1 has 1\.$/,
    next: /explain NS-609/,
  },
  'passes where the mode is set': {
    facts: { ...runs('v3.32.1'), ...nft, resources: felix({ nftablesMarkMask: 65280, nftablesMode: 'Enabled' }) },
    is: 'ok',
  },
  'warns of another program that writes rules of nftables': {
    facts: { ...runs('v3.32.1'), ...nft, daemonSets: { value: [daemonSet(), hostProgram('ghcr.io/tailscale/tailscale:v1.80')] } },
    is: 'warning',
    about: ['nft-foreign-rules'],
    details: [/Seen on: DaemonSet\/vpn\/agent/],
  },
  'passes where that program has a network of its own': {
    facts: { ...runs('v3.32.1'), ...nft, daemonSets: { value: [daemonSet(), hostProgram('ghcr.io/tailscale/tailscale:v1.80', false)] } },
    is: 'ok',
  },
  'warns where the address of a node lies within a pool': {
    facts: {
      ...runs('v3.32.1'),
      nodes: { value: [withAddress('10.244.7.9')] },
      resources: resources(resource('IPPool/pods', { cidr: '10.244.0.0/16' })),
    },
    is: 'warning',
    about: ['node-in-pool'],
    hint: /^Fixed in v3\.32\.2: --release v3\.32\.2, with its files in a folder \(--manifest-url DIR\), or with their sums: preflight with this --release prints them, to compare/,
    details: [/Node\/n1 10\.244\.7\.9 in IPPool\/pods 10\.244\.0\.0\/16/],
  },
  'passes where the addresses of the nodes are elsewhere': {
    facts: {
      ...runs('v3.32.1'),
      nodes: { value: [withAddress('10.0.7.9')] },
      resources: resources(resource('IPPool/pods', { cidr: '10.244.0.0/16' })),
    },
    is: 'ok',
  },
  'warns of a pool for LoadBalancer addresses alone': {
    context: v3320,
    facts: { ...runs('v3.32.0'), resources: resources(loadBalancer) },
    is: 'warning',
    about: ['lb-pool-snat'],
  },
  'passes where the pool is for pods as well': {
    context: v3320,
    facts: {
      ...runs('v3.32.0'),
      resources: resources(resource('IPPool/lb', { cidr: '10.9.0.0/24', allowedUses: ['Workload', 'LoadBalancer'] })),
    },
    is: 'ok',
  },
  'warns of rights that the operator of the release lacks': {
    context: v3320,
    facts: {
      ...runs('v3.32.0'),
      detection: found({ path: 'operator', variant: undefined }),
      resources: resources(loadBalancer),
      operated: operated('Iptables'),
    },
    is: 'warning',
    about: ['lb-rights', 'lb-pool-snat'],
  },
  'warns of KubeVirt beside a manifest without its rights': {
    context: v3320,
    facts: { crds: { value: [{ name: 'virtualmachineinstances.kubevirt.io', group: 'kubevirt.io' }] } },
    is: 'warning',
    about: ['kubevirt-rights'],
  },
  'stops where the container runtime does not know the version of the CNI configuration': {
    context: v3322,
    facts: nodes({ containerRuntimeVersion: 'containerd://1.5.11' }),
    is: 'error',
    about: ['cni-1.0-containerd'],
  },
  'has another advice where an operator writes the configuration': {
    context: v3322,
    facts: { ...nodes({ containerRuntimeVersion: 'containerd://1.5.11' }), ...byOperator, operated: operated('Iptables') },
    is: 'error',
    about: ['cni-1.0-containerd-operator'],
    hint: /set spec\.cni\.specVersion of the Installation to "0\.3\.1"/,
  },
  'passes where its Installation keeps an older version': {
    context: v3322,
    facts: {
      ...nodes({ containerRuntimeVersion: 'containerd://1.5.11' }),
      ...byOperator,
      operated: installationOf({}, { cni: { type: 'Calico', specVersion: '0.3.1' } }),
    },
    is: 'ok',
  },
  'says that an image by its digest was evaluated as the target': {
    facts: { ...byImage(`quay.io/calico/node@sha256:${'0'.repeat(64)}`), resources: felix({}) },
    is: 'ok',
    says: /; the image of the agents, quay\.io\/calico\/node@sha256:0+, does not say its release, and was evaluated as v3\.32\.1$/,
  },
  'says it beside what is found': {
    facts: { ...byImage('registry.example.net/node:stable'), resources: felix({ bpfEnabled: true, bpfRedirectToPeer: 'Enabled' }) },
    is: 'warning',
    hint: /Note: the image of the agents, registry\.example\.net\/node:stable, does not say its release/,
  },
  'passes with a container runtime that knows it': {
    context: v3322,
    facts: nodes({ containerRuntimeVersion: 'containerd://1.6.0' }),
    is: 'ok',
  },
  'passes before that version came': { facts: nodes({ containerRuntimeVersion: 'containerd://1.5.11' }), is: 'ok' },
  'warns of eBPF programs with debug logs on a kernel 5.15': {
    facts: {
      ...runs('v3.32.1'),
      resources: felix({ bpfEnabled: true, bpfLogLevel: 'Debug' }),
      ...nodes({ kernelVersion: '5.15.0-91-generic' }),
    },
    is: 'warning',
    about: ['ebpf-debug-verifier'],
  },
  'warns of debug logs of one node': {
    facts: {
      ...runs('v3.32.1'),
      resources: resources(
        resource('FelixConfiguration/default', { bpfEnabled: true, bpfRedirectToPeer: 'Disabled' }),
        resource('FelixConfiguration/node.n2', { bpfLogLevel: 'Debug' }),
      ),
      ...nodes({ kernelVersion: '5.15.0-91-generic' }),
    },
    is: 'warning',
    about: ['ebpf-debug-verifier'],
    details: [/Seen on: bpfLogLevel Debug of Node\/n2, Node\/n2 5\.15/],
  },
  'passes with debug logs on a kernel 5.16': {
    facts: { ...runs('v3.32.1'), resources: felix({ bpfEnabled: true, bpfLogLevel: 'Debug' }), ...nodes({ kernelVersion: '5.16.0' }) },
    is: 'ok',
  },
  'warns of the fast path of eBPF to pods, and of virtual machines beside it': {
    facts: {
      ...runs('v3.32.1'),
      resources: felix({ bpfEnabled: true, bpfRedirectToPeer: 'L2Only' }),
      crds: { value: [{ name: 'virtualmachineinstances.kubevirt.io', group: 'kubevirt.io' }] },
    },
    is: 'warning',
    about: ['live-migration-lock', 'ebpf-retransmitted-syn', 'ebpf-virtual-machine'],
    hint: /^Fixed in v3\.32\.2: --release v3\.32\.2, .* Or set bpfRedirectToPeer of the default FelixConfiguration to Disabled\./,
  },
  'stops beside the AWS VPC CNI on newer kernels': {
    facts: {
      ...runs('v3.32.1'),
      resources: felix({ bpfEnabled: true }),
      daemonSets: { value: [daemonSet(), awsNode(3)] },
      ...nodes({ kernelVersion: '6.12.53-69.amzn2023' }),
    },
    is: 'error',
    about: ['ebpf-vpc-cni-routes'],
  },
  'passes beside it on older kernels, and where it has no pods': {
    facts: {
      ...runs('v3.32.1'),
      resources: felix({ bpfEnabled: true }),
      daemonSets: { value: [daemonSet(), awsNode(0)] },
      ...nodes({ kernelVersion: '6.12.53-69.amzn2023' }),
    },
    is: 'ok',
  },
  'warns of virtual machines that move': {
    facts: { ...runs('v3.32.1'), crds: { value: [{ name: 'virtualmachineinstances.kubevirt.io', group: 'kubevirt.io' }] } },
    is: 'warning',
    about: ['live-migration-lock'],
  },
  'warns of Windows beside pools that are routed by BGP': {
    facts: {
      ...runs('v3.32.1'),
      ...nodes({ osImage: 'Windows Server 2022 Datacenter' }),
      resources: resources(resource('IPPool/pods', { cidr: '10.0.0.0/16' })),
    },
    is: 'warning',
    about: ['windows-bgp-template'],
  },
  'passes with Windows behind VXLAN': {
    facts: {
      ...runs('v3.32.1'),
      ...nodes({ osImage: 'Windows Server 2022 Datacenter' }),
      resources: resources(resource('IPPool/pods', { cidr: '10.0.0.0/16', vxlanMode: 'Always' })),
    },
    is: 'ok',
  },
  'passes with the patch that fixes both': {
    context: v3322,
    facts: { ...runs('v3.32.2'), resources: felix({ bpfEnabled: true, bpfRedirectToPeer: 'L2Only' }) },
    is: 'ok',
  },
  ...Object.fromEntries(
    ['ghcr.io/wg-easy/wg-easy:15', 'gravitl/netmaker:v0.90', 'gravitl/netclient:v0.90'].map((image) => [
      `warns of ${image} beside eBPF, which declares no port`,
      {
        facts: { ...runs('v3.32.1'), resources: felix({ bpfEnabled: true }), daemonSets: { value: [daemonSet(), hostProgram(image)] } },
        is: 'warning' as const,
        about: ['ebpf-own-wireguard'],
      },
    ]),
  ),
  'warns of a WireGuard network beside eBPF with the default interfaces': {
    facts: {
      ...runs('v3.32.1'),
      resources: felix({ bpfEnabled: true }),
      daemonSets: { value: [daemonSet(), hostProgram('example.net/wireguard-mesh:1.4')] },
    },
    is: 'warning',
    about: ['ebpf-own-wireguard'],
    hint: /^Fixed in v3\.32\.2: /,
    details: [/DaemonSet\/vpn\/agent/],
    next: /explain NS-609/,
  },
  'passes with the release that fixes it, whatever the pattern of interfaces is': {
    context: v3322,
    facts: {
      ...runs('v3.32.2'),
      resources: felix({ bpfEnabled: true, bpfDataIfacePattern: '^wg0' }),
      daemonSets: { value: [daemonSet(), hostProgram('example.net/wireguard-mesh:1.4')] },
    },
    is: 'ok',
  },
  'passes where Calico itself uses another port than that network': {
    facts: {
      ...runs('v3.32.1'),
      resources: felix({ bpfEnabled: true, wireguardListeningPort: 51900 }),
      daemonSets: { value: [daemonSet(), hostProgram('example.net/wireguard-mesh:1.4')] },
    },
    is: 'ok',
  },
  'compares the targets, and the next command names none without sums': {
    facts: {
      ...runs('v3.32.1'),
      nodes: { value: [withAddress('10.244.7.9')] },
      resources: resources(
        resource('IPPool/pods', { cidr: '10.244.0.0/16' }),
        resource('BGPConfiguration/default', { serviceClusterIPs: [{ cidr: '10.96.0.0/12' }] }),
      ),
    },
    is: 'warning',
    about: ['node-in-pool', 'advertised-not-ready'],
    hint: /v3\.32\.2 \(its sums are not known here\) has 0 defects that hit this cluster, v3\.32\.1 has 2\.$/,
    next: /explain NS-609/,
  },
  'leads back to the default target where that has fewer': {
    context: v3322,
    facts: { ...runs('v3.32.2'), ...nodes({ kernelVersion: '5.10.160-vendor-rk3588' }) },
    is: 'warning',
    about: ['securityfs'],
    hint: /v3\.32\.1 has 0 defects that hit this cluster, v3\.32\.2 has 1\.$/,
    next: /^kubectl netsvc-upgrade preflight --release v3\.32\.1$/,
  },
  'warns of the image of minikube, whose kernel had no securityfs': {
    context: v3322,
    facts: { ...runs('v3.32.2'), ...nodes({ osImage: 'Buildroot 2025.02', kernelVersion: '6.6.95' }) },
    is: 'warning',
    about: ['securityfs-minikube'],
  },
  'stops at manifests whose init containers run as no root': {
    context: contextOf({ release: 'v3.33.0' }, then),
    facts: runs('v3.33.0'),
    is: 'error',
    about: ['init-user'],
    next: /--release v3\.32\.1$/,
  },
  'passes at the same release of an operator': {
    context: contextOf({ release: 'v3.33.0' }, then),
    facts: { ...runs('v3.33.0'), detection: found({ path: 'operator', variant: undefined }), operated: operated('Iptables') },
    is: 'ok',
  },
  'stops where the target does not enforce HTTP rules': {
    context: contextOf({ release: 'v3.31.7' }, then),
    facts: {
      ...runs('v3.31.7'),
      resources: resources(resource('NetworkPolicy/a/http', { ingress: [{ http: { methods: ['GET'] } }] })),
    },
    is: 'error',
    about: ['http-not-enforced'],
    next: /--release v3\.32\.1$/,
  },
  'warns where routes are left to others': {
    context: v3320,
    facts: { ...runs('v3.32.0'), resources: felix({ routeSyncDisabled: true }) },
    is: 'warning',
    about: ['route-sync-disabled'],
  },
  'warns of an API server that refuses new policies': {
    context: v3320,
    facts: { ...runs('v3.32.0'), apiServices: { value: [object('apiregistration.k8s.io/v1', 'APIService/v3.projectcalico.org')] } },
    is: 'warning',
    about: ['new-policy-not-found'],
  },
  'warns of agents that get the API server over eBPF alone': {
    facts: {
      ...runs('v3.32.1'),
      ...byOperator,
      resources: felix({}),
      operated: installationOf({ linuxDataplane: 'BPF', bpfNetworkBootstrap: 'Enabled' }),
    },
    is: 'warning',
    about: ['ebpf-bootstrap-api', 'ebpf-shared-nat-id'],
  },
  'stops where agents could look up the API server by cluster DNS only': {
    facts: { ...runs('v3.32.1'), ...byName },
    is: 'error',
    about: ['cluster-dns'],
    details: [/Seen on: the API server is api\.internal\.example\./],
    hint: /^Put an address into ConfigMap kubernetes-services-endpoint/,
  },
  'stops where the operator has such a name in its own environment': {
    facts: { ...runs('v3.32.1'), ...byOwnName, deployments: { value: [operatorWith(hostOf('api.internal.example'))] } },
    is: 'error',
    about: ['cluster-dns'],
    details: [/Seen on: the API server is api\.internal\.example\./],
  },
  'passes where the ConfigMap has an address, whatever is in its environment': {
    facts: {
      ...runs('v3.32.1'),
      ...byName,
      configMaps: endpoint('10.0.0.10'),
      deployments: { value: [operatorWith(hostOf('api.internal.example'))] },
    },
    is: 'ok',
  },
  'passes where the chart’s values take the name away': {
    facts: {
      ...runs('v3.32.1'),
      ...byOwnName,
      deployments: { value: [operatorWith(hostOf('api.internal.example'))] },
      rendered: { value: [operatorWith(hostOf('10.0.0.10'))] },
    },
    is: 'ok',
  },
  'stops where the chart’s values give a name that no ConfigMap has yet': {
    facts: { ...runs('v3.32.1'), ...byOwnName, rendered: { value: [...endpoint('api.internal.example').value, operatorWith({})] } },
    is: 'error',
    about: ['cluster-dns'],
  },
  'stops where the operator has another name and namespace': {
    facts: {
      ...runs('v3.32.1'),
      ...byOwnName,
      detection: found({ path: 'operator', variant: undefined, operator: { namespace: 'operators', name: 'tigera' } }),
      deployments: {
        value: [object('apps/v1', 'Deployment/operators/tigera', { spec: operatorWith(hostOf('api.internal.example')).spec })],
      },
    },
    is: 'error',
    about: ['cluster-dns'],
  },
  'passes where it is localhost, which the node resolves itself': {
    facts: { ...runs('v3.32.1'), ...byName, configMaps: endpoint('localhost') },
    is: 'ok',
  },
  'passes where the API server has an address': {
    facts: { ...runs('v3.32.1'), ...byName, configMaps: endpoint('10.0.0.10') },
    is: 'ok',
  },
  'stops where the installed release is not known': {
    facts: {
      ...runs('v3.32.1'),
      ...byName,
      detection: found({ path: 'operator', variant: undefined, release: undefined, components: [] }),
    },
    is: 'error',
    about: ['cluster-dns'],
  },
  'passes where it has an IPv6 address': { facts: { ...runs('v3.32.1'), ...byName, configMaps: endpoint('[fd00::1]') }, is: 'ok' },
  'passes where the agents use cluster DNS already': {
    facts: { ...runs('v3.32.1'), ...byName, detection: found({ path: 'operator', variant: undefined, release: 'v3.30.2' }) },
    is: 'ok',
  },
  'stops from the patches of v3.30 that use the resolver of the node': {
    facts: { ...runs('v3.32.1'), ...byName, detection: found({ path: 'operator', variant: undefined, release: 'v3.30.5' }) },
    is: 'error',
    about: ['cluster-dns'],
  },
  'passes where the Installation sets the policy of the agents': {
    facts: {
      ...runs('v3.32.1'),
      ...byName,
      operated: installationOf(
        { linuxDataplane: 'Iptables' },
        { calicoNodeDaemonSet: { spec: { template: { spec: { dnsPolicy: 'Default' } } } } },
      ),
    },
    is: 'ok',
  },
  'passes where the operator has a resolver of its own': {
    facts: { ...runs('v3.32.1'), ...byName, deployments: { value: [operatorWith({ dnsConfig: { nameservers: ['10.0.0.2'] } })] } },
    is: 'ok',
  },
  'passes where the operator of the target uses that of the node': {
    facts: { ...byName, target: targetOf(operatorWith({ dnsPolicy: 'Default' })) },
    is: 'ok',
  },
  'passes where the chart’s values give it that of the node': {
    facts: { ...runs('v3.32.1'), ...byName, rendered: { value: [operatorWith({ dnsPolicy: 'Default' })] } },
    is: 'ok',
  },
  'stops where the chart’s values give it cluster DNS, whatever the manifest says': {
    facts: {
      ...byName,
      target: targetOf(operatorWith({ dnsPolicy: 'Default' })),
      rendered: { value: [operatorWith({ dnsPolicy: 'ClusterFirstWithHostNet' })] },
    },
    is: 'error',
    about: ['cluster-dns'],
  },
  'cannot tell it where the ConfigMaps could not be read': {
    facts: { ...runs('v3.32.1'), ...byName, configMaps: { unread: 'forbidden' } },
    is: 'warning',
    says: /forbidden/,
  },
  'names the fix in the line of the target': {
    context: contextOf({ release: 'v3.30.4' }, then),
    facts: { ...runs('v3.30.4'), resources: resources(loadBalancer) },
    is: 'warning',
    about: ['lb-duplicates', 'lb-crash'],
    hint: /v3\.31\.6.*Fixed in v3\.30\.7: --release v3\.30\.7/,
  },
  'knows the fix in that line, and what is open in it': {
    context: contextOf({ release: 'v3.30.5' }, then),
    facts: { ...runs('v3.30.5'), ...nodes({ kernelVersion: '6.12.53-69.amzn2023' }), resources: felix({ bpfEnabled: true }) },
    is: 'warning',
    about: ['ebpf-host-address'],
  },
  'warns before the fix in that line': {
    context: contextOf({ release: 'v3.30.4' }, then),
    facts: { ...runs('v3.30.4'), ...nodes({ kernelVersion: '6.12.53-69.amzn2023' }), resources: felix({ bpfEnabled: true }) },
    is: 'warning',
    about: ['ebpf-balancer', 'ebpf-host-address'],
  },
  'stops for a defect that hits, whatever of others could not be read': {
    context: v3320,
    facts: { ...runs('v3.32.0'), ...nft, nodes: { unread: 'no list' } },
    is: 'error',
    about: ['nft-overlap'],
    hint: /Other defects could not be evaluated: no list\.$/,
  },
  'passes over what could not be read where another condition does not hold': {
    context: withRow({ type: 'packetFilter', oneOf: ['nftables'] }, { type: 'path', oneOf: ['chart'] }),
    facts: { proxyMode: { unread: 'forbidden' } },
    is: 'ok',
  },
  'warns if the facts of a condition could not be read': {
    context: v3320,
    facts: { ...runs('v3.32.0'), proxyMode: { unread: 'forbidden' } },
    is: 'warning',
    says: /forbidden/,
  },
};

checkCases('NS-609', released, v3321);

const pool = resources(resource('IPPool/pods', { cidr: '10.9.0.0/24' }));
const onVersion = { type: 'node', field: 'osImage', startsWith: ['Site Linux'], from: '4', before: '5' } as const;
const anyVersion = { type: 'node', field: 'osImage', before: '13' } as const;
const unset = { type: 'resource', plurals: ['ippools'], fields: ['vxlanMode'], noneOf: ['Always'] } as const;

checkCases('NS-609', {
  'reads the version after the name, whatever stands between them': {
    context: withRow(onVersion),
    facts: nodes({ osImage: 'Site Linux v4.2' }),
    is: 'error',
    details: [/Seen on: Node\/n2 Site Linux v4\.2/],
  },
  'passes on another version': { context: withRow(onVersion), facts: nodes({ osImage: 'Site Linux 5.0' }), is: 'ok' },
  'passes where a name has no version': {
    context: withRow(anyVersion),
    facts: { nodes: { value: [node('n1', { info: { osImage: 'Debian GNU/Linux trixie/sid' } })] } },
    is: 'ok',
  },
  'takes what is not set for none of these values': { context: withRow(unset), facts: { resources: pool }, is: 'error' },
  'finds one of them where it is set': {
    context: withRow(unset),
    facts: { resources: resources(resource('IPPool/pods', { vxlanMode: 'Always' })) },
    is: 'ok',
  },
  'finds no field that every object has': {
    context: withRow({ type: 'resource', plurals: ['ippools'], fields: ['constructor', '__proto__'] }),
    facts: { resources: pool },
    is: 'ok',
  },
  'finds no setting that every object has': {
    context: withRow({ type: 'setting', name: 'constructor' }),
    facts: { resources: felix({}) },
    is: 'ok',
  },
});

const begun = (startedAt: string) => ({ value: { startedAt } as RunRecord });
const installed = (createdAt: string) => ({
  value: [{ name: 'felixconfigurations.crd.projectcalico.org', group: 'crd.projectcalico.org', createdAt }],
});

checkCases('NS-609', {
  'passes over a CRD that the unfinished run has created': {
    context: contextOf({}, { ...calico, defects: [own] }),
    facts: { record: begun('2026-01-02T00:00:00Z'), crds: installed('2026-01-02T00:01:00Z') },
    is: 'ok',
  },
  'passes over a CRD that it has created within its first second': {
    context: contextOf({}, { ...calico, defects: [own] }),
    facts: { record: begun('2026-01-02T00:00:00.400Z'), crds: installed('2026-01-02T00:00:00Z') },
    is: 'ok',
  },
  'finds a CRD that was there before the unfinished run': {
    context: contextOf({}, { ...calico, defects: [own] }),
    facts: { record: begun('2026-01-02T00:00:00Z'), crds: installed('2026-01-01T00:00:00Z') },
    is: 'error',
  },
  'takes rows of a profile of one’s own': {
    context: contextOf({}, { ...calico, defects: [own] }),
    is: 'error',
    about: ['ours'],
    hint: /^Do not\.$/,
  },
});
