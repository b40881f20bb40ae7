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
  {
    seen: 'The agent is not created on a node: "path "/sys/fs" is mounted on "/sys" but it is not a shared mount".',
    why: 'From v3.31 on the operator mounts folders below `/sys` with propagation on every cluster, before with eBPF alone.',
    here: '[NS-902](../reference/checks/NS-902.md) says it before the upgrade where the mount is new, and [`--probe-nodes`](../reference/checks/NS-431.md) tries it. `wait` stops at the first such node and prints what it means. On the node: `mount --make-shared /sys`, with a unit that does it at each boot.',
    sources: ['projectcalico/calico#11764', 'k0sproject/k0s#252'],
  },
  {
    seen: 'The new operator ends again and again: "could not wait for cache to sync"; statuses stay green, agents old.',
    why: 'The thread tells no cause. An operator says so that cannot list or watch a kind: a CRD or a right is missing, or the API server answers too slowly.',
    here: '`wait` looks at images, not at statuses alone: it stops at the operator’s pod, with its last lines and what they mean. Compare CRDs and ClusterRole with the release, then run the same command again.',
    sources: ['projectcalico/calico#14019'],
  },
  {
    seen: 'After an upgrade across v3.28 objects that name a policy or another v3 object as their owner are deleted, or a controller no longer finds what it owns.',
    why: 'The v3 API shows another UID of each object from v3.28 on. kube-controller-manager and controllers that watch v3 objects may keep old UIDs in memory.',
    here: '[NS-701](../reference/checks/NS-701.md) and `ownerrefs` remove such references before the upgrade and put them back with the new UIDs; [NS-307](../reference/checks/NS-307.md) looks at all of them in the end. The release notes advise a restart of kube-controller-manager afterwards: do it when `verify` has found nothing, and restart controllers of your own that watch v3 objects.',
    sources: ['projectcalico/calico#9191'],
  },
  {
    seen: 'Init containers of the new agent fail on one node: a C library that is too old, or a broken copy of the image.',
    why: 'The programs of the image do not fit this node, or a layer of it was stored incompletely.',
    here: '`wait` stops at the node and prints the log and what it means. [`--probe-nodes`](../reference/checks/NS-431.md) starts the image there beforehand. Remove the image on the node, so that it is pulled again.',
    sources: ['projectcalico/calico#6715', 'projectcalico/calico#6355', 'projectcalico/calico#9338'],
  },
];
