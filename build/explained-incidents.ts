/** An incident that shows on a node alone: no check beforehand can see it. */
export interface ExplainedIncident {
  /** What somebody sees who met it. */
  readonly seen: string;
  /** What is left to do. */
  readonly here: string;
  /** Threads: `projectcalico/calico#12700`. */
  readonly sources: readonly string[];
}

export const explainedIncidents: readonly ExplainedIncident[] = [
  {
    seen: 'The agents are ready, but new pods stay in ContainerCreating.',
    here: '"x509: certificate signed by unknown authority": compare the authority in the node’s `/etc/cni/net.d/calico-kubeconfig` with ConfigMap `kube-root-ca.crt`. If equal, a proxy or another API server answers. If not, or for "connection is unauthorized", restart the agent. "netplugin failed with no error message", with etcd: compare `/etc/cni/net.d/calico-tls` with the Secret.',
    sources: [
      ...['projectcalico/calico#11974', 'projectcalico/calico#6425', 'projectcalico/calico#9271', 'projectcalico/calico#8379'],
      ...['projectcalico/calico#7584', 'projectcalico/calico#3969', 'projectcalico/cni-plugin#944'],
    ],
  },
  {
    seen: 'Pods of a node reach no service or no other node; `iptables-legacy-save` and `iptables-nft-save` both list `cali-` chains.',
    here: 'Before the upgrade set `iptablesBackend` of FelixConfiguration `default` to what `iptables -V` says there, `NFT` or `Legacy`. Restart nodes with rules in both tables.',
    sources: ['projectcalico/calico#5760', 'projectcalico/calico#8243'],
  },
  {
    seen: 'VXLAN: pods on different nodes reach each other by ping only; `tcpdump` shows "bad udp cksum".',
    here: 'Set `featureDetectOverride` of FelixConfiguration `default` to `ChecksumOffloadBroken=true`, or turn the card’s offload off with `ethtool`.',
    sources: ['projectcalico/calico#9433', 'projectcalico/calico#4727'],
  },
  {
    seen: 'With canal on etcd, `calicoctl get` lists a policy, and does not find it by that name.',
    here: 'It stays in force. After the upgrade run `calicoctl datastore migrate-policy-names` of v3.32.2 or later. A rollback does not take it back ([NS-707](../reference/checks/NS-707.md)).',
    sources: ['projectcalico/calico#13257', 'projectcalico/calico#13288', 'tigera/docs#2851'],
  },
  {
    seen: 'The agent is not created on a node: "path "/sys/fs" is mounted on "/sys" but it is not a shared mount".',
    here: 'Run `mount --make-shared /sys` there at each boot.',
    sources: ['projectcalico/calico#11764', 'k0sproject/k0s#252'],
  },
  {
    seen: 'The new operator ends again and again: "could not wait for cache to sync"; statuses stay green, agents old.',
    here: 'Compare CRDs and ClusterRole with the release, then rerun.',
    sources: ['projectcalico/calico#14019'],
  },
  {
    seen: 'After an upgrade across v3.28 objects owned by a policy or another v3 object are deleted, or a controller no longer finds what it owns.',
    here: '[NS-701](../reference/checks/NS-701.md) finds such references. If `verify` finds nothing, restart kube-controller-manager, and your own controllers that watch v3 objects.',
    sources: ['projectcalico/calico#9191'],
  },
  {
    seen: 'Init containers of the new agent fail on one node: its C library is too old, or its copy of the image broken.',
    here: 'Remove such an image: it is pulled again.',
    sources: ['projectcalico/calico#6715', 'projectcalico/calico#6355', 'projectcalico/calico#9338'],
  },
];
