import { found, resource, resources } from '../../fixtures/facts.ts';
import { checkCases } from '../../support/judged-worlds.ts';
import { context, forOperators, installed, operated, without } from '../../support/operated-facts.ts';

type Spec = Readonly<Record<string, unknown>>;
const listing = (ipPools: readonly object[], more: object = {}) =>
  operated({ installation: installed({ calicoNetwork: { ipPools }, ...more }) });
const pool = (name: string, spec: Spec, labels: object = {}) => resource(`IPPool/${name}`, spec, { labels });
const OWNED = { 'app.kubernetes.io/managed-by': 'tigera-operator' };
/** As agents of old releases and the v3 API create it. */
const four = { cidr: '10.52.0.0/16', ipipMode: 'Always', vxlanMode: 'Never', natOutgoing: true, nodeSelector: 'all()', blockSize: 26 };
const listed = { cidr: '10.52.0.0/16', encapsulation: 'IPIP', natOutgoing: 'Enabled', nodeSelector: 'all()', blockSize: 26 };
const USES = ['Workload', 'Tunnel'];
/** The fate of one pool, of which one field differs. */
const differing = (entry: Spec, live: Spec, labels: object = {}, name = 'a') => ({
  ...listing([{ ...listed, ...entry }]),
  resources: resources(pool(name, { ...four, ...live }, labels)),
});
const withoutApi = (facts: ReturnType<typeof differing>) => ({
  ...facts,
  detection: found({ path: 'operator', variant: undefined, hasApiServer: false }),
  operated: { ...facts.operated, components: { value: [] } },
});

const v329 = { detection: found({ path: 'operator', variant: undefined, hasApiServer: true, release: 'v3.29.2' }) };

checkCases('NS-624', {
  'names field and both values of each pool that no label makes the operator’s': {
    context,
    facts: {
      ...listing([
        { ...listed, name: 'default-ipv4-ippool', encapsulation: 'VXLANCrossSubnet' },
        {
          name: 'default-ipv6-ippool',
          cidr: 'fd00:52::/64',
          encapsulation: 'None',
          natOutgoing: 'Enabled',
          nodeSelector: 'all()',
          blockSize: 122,
        },
      ]),
      resources: resources(
        pool('default-ipv4-ippool', { ...four, allowedUses: ['Workload', 'Tunnel'] }),
        pool('default-ipv6-ippool', {
          cidr: 'fd00:52::/64',
          ipipMode: 'Never',
          vxlanMode: 'Never',
          natOutgoing: false,
          nodeSelector: 'all()',
          blockSize: 122,
        }),
      ),
    },
    is: 'warning',
    about: ['IPPool/default-ipv4-ippool', 'IPPool/default-ipv6-ippool'],
    details: [
      /^encapsulation is IPIP \(ipipMode Always, vxlanMode Never\), and VXLANCrossSubnet in the Installation: the operator changes no pool without its label app\.kubernetes\.io\/managed-by=tigera-operator$/,
      /^natOutgoing is false, and Enabled in the Installation: the operator changes no pool without/,
    ],
    fix: /^kubectl patch installations\.operator\.tigera\.io default --type=json -p '\[\{"op":"add","path":"\/spec\/calicoNetwork\/ipPools\/0\/encapsulation","value":"IPIP"\},\{"op":"add","path":"\/spec\/calicoNetwork\/ipPools\/1\/natOutgoing","value":"Disabled"\}\]'$/,
  },
  'stops before a pool with the label of the operator, which it changes': {
    context,
    facts: differing({ encapsulation: 'VXLAN' }, {}, OWNED),
    is: 'error',
    details: [/IPIP \(ipipMode Always, vxlanMode Never\), and VXLAN in the Installation: the operator changes the pool$/],
  },
  'reads the label where the v3 API keeps it': {
    context,
    facts: {
      ...listing([{ ...listed, natOutgoing: 'Disabled' }]),
      resources: resources(
        resource('IPPool/a', four, { annotations: { 'projectcalico.org/metadata': JSON.stringify({ labels: OWNED }) } }),
      ),
    },
    is: 'error',
    details: [/natOutgoing is true, and Disabled in the Installation: the operator changes/],
  },
  'stops before a block size of its own pool, which no API changes': {
    context,
    facts: differing({}, { blockSize: 24 }, OWNED),
    is: 'error',
    details: [/^blockSize is 24, and 26 in the Installation: the operator cannot do it, and stays degraded$/],
  },
  'stops before another name of its own pool: the networks overlap': {
    context,
    facts: differing({ name: 'b' }, {}, OWNED),
    is: 'error',
    details: [/^name is a, and b in the Installation: the operator cannot/],
  },
  'warns of a selector': {
    context,
    facts: differing({}, { nodeSelector: '!all()' }),
    is: 'warning',
    details: [/^nodeSelector is !all\(\), and all\(\)/],
  },
  'warns of the export to BGP': {
    context,
    facts: differing({ disableBGPExport: false }, { disableBGPExport: true }),
    is: 'warning',
    details: [/^disableBGPExport is true, and false/],
  },
  'warns of the uses': {
    context,
    facts: differing({}, { allowedUses: ['Workload'] }),
    is: 'warning',
    details: [/^allowedUses is Workload, and Workload, Tunnel in/],
  },
  'warns of the assignment': {
    context,
    facts: differing({}, { assignmentMode: 'Manual' }),
    is: 'warning',
    details: [/^assignmentMode is Manual/],
  },
  'stops before a disabled pool of the operator that comes back': {
    context,
    facts: {
      ...listing([listed, { ...listed, cidr: '10.53.0.0/16' }]),
      resources: resources(pool('a', { ...four, disabled: true }, OWNED), pool('b', { ...four, cidr: '10.53.0.0/16' })),
    },
    is: 'error',
    about: ['IPPool/a'],
    details: [/^disableNewAllocations is true, and false in the Installation: the operator changes/],
  },
  'stops where the operator has no API to change it by': {
    context,
    facts: withoutApi(differing({ natOutgoing: 'Disabled' }, {}, OWNED)),
    is: 'error',
    details: [/stays degraded$/],
  },
  'passes where only the name differs and there is no API to create it by': {
    context,
    facts: withoutApi(differing({ name: 'b' }, { allowedUses: USES }, OWNED)),
    is: 'ok',
  },
  'stops where its own pool means the same, written otherwise, and there is no API to write it by': {
    context,
    facts: withoutApi(differing({ encapsulation: 'None' }, { ipipMode: 'Never', allowedUses: USES }, OWNED)),
    is: 'error',
    about: ['IPPool/a'],
    details: [
      /^means the same as the Installation, written otherwise: ipipMode is Never, and the operator writes nothing; vxlanMode is Never, and the operator writes nothing\. The operator writes pools through the API server .*, and stays degraded$/,
    ],
    hint: /^Write these fields of the pool as the operator does/,
  },
  'stops where such a pool lacks the uses that older operators did not write': {
    context,
    facts: withoutApi(differing({}, {}, OWNED)),
    is: 'error',
    details: [/: allowedUses is nothing, and the operator writes Workload, Tunnel\./],
  },
  'passes where the order of the uses is another one, and there is an API': {
    context,
    facts: differing({ allowedUses: USES.toReversed() }, { allowedUses: USES }, OWNED),
    is: 'ok',
  },
  'stops where it is, and there is none': {
    context,
    facts: withoutApi(differing({ allowedUses: USES.toReversed() }, { allowedUses: USES }, OWNED)),
    is: 'error',
    details: [/allowedUses is Workload, Tunnel, and the operator writes Tunnel, Workload/],
  },
  'passes where it is written as the operator writes it': {
    context,
    facts: withoutApi(differing({}, { allowedUses: USES }, OWNED)),
    is: 'ok',
  },
  'passes where the pool is not the operator’s': {
    context,
    facts: withoutApi(differing({ encapsulation: 'None' }, { ipipMode: 'Never' })),
    is: 'ok',
  },
  'stops where it has no label and reads as its entry: the operator takes it over, and then compares it': {
    context,
    facts: withoutApi(differing({ name: 'a', encapsulation: 'VXLAN' }, { ipipMode: undefined, vxlanMode: 'Always', allowedUses: USES })),
    is: 'error',
    details: [/^means the same .*: ipipMode is nothing, and the operator writes Never\. The operator writes pools through the API/],
  },
  'passes where it does not read as its entry, by the order of the uses': {
    context,
    facts: withoutApi(
      differing(
        { encapsulation: 'VXLAN', allowedUses: USES.toReversed() },
        { ipipMode: undefined, vxlanMode: 'Always', allowedUses: USES },
      ),
    ),
    is: 'ok',
  },
  'stops before a pool of the operator that its list no longer has': {
    context,
    facts: { ...listing([listed]), resources: resources(pool('a', four), pool('old', { ...four, cidr: '10.9.0.0/16' }, OWNED)) },
    is: 'error',
    about: ['IPPool/old'],
    details: [/the operator deletes the pool$/],
    fix: /"path":"\/spec\/calicoNetwork\/ipPools\/-","value":\{"cidr":"10\.9\.0\.0\/16","name":"old","encapsulation":"IPIP"/,
  },
  'passes with a pool of a person beside the list: the operator does not touch it': {
    context,
    facts: { ...listing([listed]), resources: resources(pool('a', four), pool('mine', { ...four, cidr: '10.9.0.0/16' })) },
    is: 'ok',
  },
  'stops before a deleted pool of the list: no operator before v3.28 created it again': {
    context,
    facts: { ...listing([{ cidr: '10.8.0.0/16' }, listed, { cidr: '10.9.0.0/16' }]), resources: resources(pool('a', four)) },
    is: 'error',
    about: ['Installation/default', 'Installation/default'],
    details: [
      /^10\.8\.0\.0\/16 is no pool in the cluster: the operator of the target creates it, and new pods get addresses of it$/,
      /^10\.9\.0\.0\/16 is no pool/,
    ],
    fix: /-p '\[\{"op":"remove","path":"\/spec\/calicoNetwork\/ipPools\/2"\},\{"op":"remove","path":"\/spec\/calicoNetwork\/ipPools\/0"\}\]'$/,
  },
  'stops before one whose network overlaps that of another pool': {
    context,
    facts: { ...listing([listed, { cidr: '10.52.128.0/17' }]), ...v329, resources: resources(pool('a', four)) },
    is: 'error',
    details: [
      /^10\.52\.128\.0\/17 is no pool in the cluster, and overlaps a 10\.52\.0\.0\/16: the operator cannot do it, and stays degraded$/,
    ],
    fix: /"op":"remove","path":"\/spec\/calicoNetwork\/ipPools\/1"/,
  },
  'warns of one that the installed operator would have created by now': {
    context,
    facts: { ...listing([listed, { cidr: '10.9.0.0/16' }]), ...v329, resources: resources(pool('a', four)) },
    is: 'warning',
    about: ['Installation/default'],
    details: [/^10\.9\.0\.0\/16 is no pool in the cluster: the operator creates it$/],
  },
  'stops before one network that is written in two ways': {
    context,
    facts: {
      ...listing([{ cidr: '42::/48' }, listed]),
      resources: resources(pool('six', { cidr: '42:0::/48', ipipMode: 'Never' }, OWNED), pool('four', four)),
    },
    is: 'error',
    about: ['IPPool/six'],
    details: [
      /^is 42:0::\/48, and 42::\/48 in the Installation: one network written in two ways\. The operator deletes the pool and creates it again/,
    ],
    fix: /"path":"\/spec\/calicoNetwork\/ipPools\/0\/cidr","value":"42:0::\/48"/,
  },
  'stops before capital letters: they are another network to the operator, which the API refuses': {
    context,
    facts: { ...listing([{ cidr: 'FD00::/48' }]), resources: resources(pool('six', { cidr: 'fd00::/48' })) },
    is: 'error',
    details: [/written in two ways\. the operator cannot do it/],
  },
  'passes where what is not set has the default of the operator': {
    context,
    facts: {
      ...listing([{ cidr: '10.52.0.0/16' }, { cidr: 'fd00::/48', allowedUses: ['Tunnel', 'Workload'] }]),
      resources: resources(pool('a', { cidr: '10.52.0.0/16', ipipMode: 'Always', natOutgoing: true }), pool('b', { cidr: 'fd00::/48' })),
    },
    is: 'ok',
  },
  'takes no encapsulation for granted where the provider has the plugin': {
    context,
    facts: {
      ...listing([{ cidr: '10.52.0.0/16' }], { kubernetesProvider: 'EKS' }),
      resources: resources(pool('a', { cidr: '10.52.0.0/16', natOutgoing: true })),
    },
    is: 'ok',
  },
  'stops where no pool is enabled: the operator waits for one': {
    context,
    facts: { ...listing([]), resources: resources(pool('a', { ...four, disabled: true })) },
    is: 'error',
    details: [/the operator waits for an enabled pool, and upgrades nothing$/],
  },
  'stops before pods that get addresses of a family that the list does not have': {
    context,
    facts: { ...listing([listed]), resources: resources(pool('a', four), pool('six', { cidr: 'fd00::/48' })) },
    is: 'error',
    about: ['IPPool/six'],
    details: [/from v3\.28\.0 on new pods get an IPv6 address too$/],
  },
  'stops before pods that get no address of a family of the list': {
    context,
    facts: {
      ...listing([listed, { cidr: 'fd00::/48', disableNewAllocations: true }]),
      resources: resources(pool('a', four), pool('six', { cidr: 'fd00::/48', disabled: true })),
    },
    is: 'error',
    about: ['Installation/default'],
    details: [/new pods get no IPv6 address$/],
  },
  'passes with such a pool where the installed operator goes by the pools already': {
    context,
    facts: {
      ...listing([listed]),
      detection: found({ path: 'operator', variant: undefined, hasApiServer: true, release: 'v3.29.2' }),
      resources: resources(pool('a', four), pool('six', { cidr: 'fd00::/48' })),
    },
    is: 'ok',
  },
  'passes where the Installation lists none: its pools are somebody else’s': {
    context,
    facts: { ...listing([]), resources: resources(pool('a', four)) },
    is: 'ok',
  },
  'passes without a list, and does not say that the pools are as in it': {
    context,
    facts: { ...operated({ installation: installed({}) }), resources: resources(pool('a', four)) },
    is: 'ok',
    says: /has no list of address pools/,
  },
  'fails where the Installation cannot be read': { context, facts: without('installation'), is: 'error', says: /forbidden/ },
  ...forOperators,
});

const felix = (spec: Spec, noted?: string) =>
  resource('FelixConfiguration/default', spec, noted === undefined ? {} : { annotations: { 'operator.tigera.io/bpfEnabled': noted } });
const plane = (linuxDataplane: string | undefined, agents: ReturnType<typeof felix>) => ({
  ...operated({ installation: installed({ calicoNetwork: linuxDataplane === undefined ? {} : { linuxDataplane } }) }),
  resources: resources(agents),
});

checkCases('NS-634', {
  'stops where a person has switched eBPF on behind the Installation': {
    context,
    facts: plane('Iptables', felix({ bpfEnabled: true })),
    is: 'error',
    about: ['FelixConfiguration/default'],
    says: /bpfEnabled is true, and spec\.calicoNetwork\.linuxDataplane of the Installation is Iptables.*stays degraded/,
    fix: /^kubectl patch installations\.operator\.tigera\.io default --type=merge -p '\{"spec":\{"calicoNetwork":\{"linuxDataplane":"BPF"\}\}\}'$/,
  },
  'stops where the agents have it off and the Installation on': {
    context,
    facts: plane('BPF', felix({ bpfEnabled: false })),
    is: 'error',
    fix: /^kubectl patch felixconfigurations\.crd\.projectcalico\.org default --type=merge -p '\{"spec":\{"bpfEnabled":true\}\}'$/,
  },
  'stops where somebody changed what the operator wrote': {
    context,
    facts: plane(undefined, felix({}, 'true')),
    is: 'error',
    says: /is not set/,
  },
  'passes where the operator wrote the value that it changes now': {
    context,
    facts: plane('BPF', felix({ bpfEnabled: false }, 'false')),
    is: 'ok',
  },
  'passes where both say the same': { context, facts: plane('BPF', felix({ bpfEnabled: true })), is: 'ok' },
  'passes where nobody has set it': { context, facts: plane('BPF', felix({})), is: 'ok' },
  'passes where it is off in both': { context, facts: plane('Nftables', felix({ bpfEnabled: false })), is: 'ok' },
  'fails where the Installation cannot be read': { context, facts: without('installation'), is: 'error', says: /forbidden/ },
  ...forOperators,
});
