/** A row of docs/use/known-incidents.md. */
export interface Incident {
  /** What somebody sees who met it. */
  readonly seen: string;
  readonly why: string;
  /** A link to the check that looks for it, and which of its findings it is. */
  readonly check?: string;
  readonly id?: string;
  /** What this program does, and what is left to do. */
  readonly here: string;
  /** Threads: `projectcalico/calico#12700`. */
  readonly sources: readonly string[];
}

const stopsThere =
  '[`wait`](../reference/cli/wait.md) stops at the first such node and prints the event. [`--probe-network`](traffic.md#try-the-network-of-new-pods) finds it without a pod of yours.';

/** Incidents that show on a node alone: no check beforehand can see them. */
export const explainedIncidents: readonly Incident[] = [
  {
    seen: 'The agents are ready, but new pods stay in ContainerCreating: "error getting ClusterInformation … x509: certificate signed by unknown authority".',
    why: 'The CNI plugin reads `/etc/cni/net.d/calico-kubeconfig` on its node, which the agent writes when it starts. The authority in it does not fit the certificate that the API server shows at the address in it.',
    here: `${stopsThere} Compare the authority in that file with ConfigMap \`kube-root-ca.crt\`. If they differ, restart the agent of the node. If they are equal, something else answers at that address: a proxy, or an API server with another certificate.`,
    sources: ['projectcalico/calico#11974', 'projectcalico/calico#6425'],
  },
  {
    seen: 'The agents are ready, but new pods stay in ContainerCreating: "connection is unauthorized: Unauthorized".',
    why: 'The CNI plugin uses the token in `/etc/cni/net.d/calico-kubeconfig`. It has expired, or its ServiceAccount was created again.',
    here: `${stopsThere} Restart the agent of the node: it writes the file again.`,
    sources: ['projectcalico/calico#9271', 'projectcalico/calico#8379', 'projectcalico/calico#7584'],
  },
  {
    seen: 'With etcd: the agents are ready, but new pods stay in ContainerCreating: "netplugin failed with no error message"; etcd logs "bad certificate".',
    why: 'The CNI plugin does not use the Secret, but copies in `/etc/cni/net.d/calico-tls` on its node, by the paths in the CNI configuration. v3.16.0 left these paths empty. v3.16.1 and later fill them in.',
    here: `Every target is newer than the defect. The Secret and its places are checked before the upgrade ([NS-210](../reference/checks/NS-210.md), [NS-212](../reference/checks/NS-212.md)). ${stopsThere} Compare the files with the Secret.`,
    sources: ['projectcalico/calico#3969', 'projectcalico/cni-plugin#944'],
  },
  {
    seen: 'After the agent of a node restarted, its pods reach no service or no other node, and `iptables-legacy-save` and `iptables-nft-save` both list `cali-` chains.',
    why: 'With `iptablesBackend` Auto, the default, an agent finds out when it starts whether the node uses legacy or nft tables. It goes by chains of the kubelet, else by the number of rules. If other programs have written to the other tables, it may choose these. Its old rules stay where they are.',
    here: 'Which tables a node uses cannot be seen from the cluster. If that happened to you before, set `iptablesBackend` of the FelixConfiguration `default` to `NFT` or `Legacy` before the upgrade, as `iptables -V` says on the nodes. A value that is set, there or as `FELIX_IPTABLESBACKEND`, is kept. Restart a node that has rules in both tables.',
    sources: ['projectcalico/calico#5760', 'projectcalico/calico#8243'],
  },
  {
    seen: 'With VXLAN, pods on different nodes reach each other by ping only; `tcpdump` shows "bad udp cksum".',
    why: 'Network cards of some machines, often virtual ones, write wrong checksums into tunneled packets. Agents turn the offload off by themselves on kernels up to 5.7 alone.',
    here: 'No check beforehand can see it: agents and their probes are well. [`--probe-network`](traffic.md#try-the-network-of-new-pods) connects pods of an upgraded and an old node, and stops the wait there. If it happens, set `featureDetectOverride` of the FelixConfiguration `default` to `ChecksumOffloadBroken=true`, or turn the offload of the card off with `ethtool`. A value that is set, there or as `FELIX_FEATUREDETECTOVERRIDE`, is kept.',
    sources: ['projectcalico/calico#9433', 'projectcalico/calico#4727'],
  },
  {
    seen: 'With etcd: after the upgrade `calicoctl get` lists a policy, and does not find it by that name.',
    why: 'From v3.32 on a policy of the default tier is stored under its own name. In etcd nobody renames those that are stored as `default.NAME`.',
    here: '[NS-707](../reference/checks/NS-707.md) says before the upgrade that nothing is renamed here. The policies stay in force. After all agents are upgraded, run `calicoctl datastore migrate-policy-names` with a calicoctl of v3.32.2 or later. It may be run again.',
    sources: ['projectcalico/calico#13257', 'projectcalico/calico#13288', 'tigera/docs#2851'],
  },
];
