import { readFileSync, writeFileSync } from 'node:fs';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { manifestText, parseManifest } from '../../src/manifest/manifest.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { storedIn } from '../support/chart-bench.ts';
import { HELM_REFUSES } from '../support/played-helm.ts';
import { manifestFile } from '../support/releases.ts';
import { ailing, ending, operates, withoutNetwork } from './ailing-pods.ts';
import { type IncidentRun, on } from './incident.ts';
import { stored } from './incident-worlds.ts';
import { of } from './release-worlds.ts';

const PROBED_NETWORK = '--probe-network --probe-image registry.example.org/busybox:1.37 --probe-namespace default';
const AGENT = 'netsvc-node';
const CONTROLLERS = 'netsvc-kube-controllers';
const unhealthy = (message: string) => ({ event: { reason: 'Unhealthy', message: `Readiness probe failed: ${message}` } });
const NO_MATCHES =
  'Error: UPGRADE FAILED: unable to build kubernetes objects from current release manifest: no matches for kind "PodSecurityPolicy" in version "policy/v1beta1"\n';
const PROBED = { command: 'preflight --probe-nodes all --yes' };
const SANDBOX = 'Failed to create pod sandbox: plugin type="calico" failed (add):';

/** As the definition of v3.32.2 does; the file here is that of v3.32.1. */
function checksNetworks(_: unknown, { releases }: Scenario): void {
  const path = manifestFile('v3.32.2', 'calico.yaml', releases.source);
  const documents = parseManifest(readFileSync(path, 'utf8'), path).documents.map(({ object }) => {
    if (!object.metadata.name.startsWith('ipreservations.')) return object;
    const reservedCIDRs = { type: 'array', items: { type: 'string', format: 'cidr' } };
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { reservedCIDRs } } } } };
    const spec = object.spec as { readonly versions: readonly object[] };
    return { ...object, spec: { ...spec, versions: spec.versions.map((one) => ({ ...one, schema })) } };
  });
  writeFileSync(path, manifestText(documents));
}

/** The rollout fails as in the thread: `run` stops and says what that means. */
export const stoppedRuns: Readonly<Record<string, IncidentRun>> = {
  'the program of the new image crashes on this processor': on('own', [24])
    .after(ailing(AGENT, 'crash-loop', { exitCode: 139 }))
    .ends(5, /CrashLoopBackOff, last exit 139[\s\S]*means {3}a program of this image crashed/),
  'a layer of the image is broken on some nodes': on('own', [25])
    .after(ailing(AGENT, 'crash-loop', { log: 'exec /usr/bin/start_runit: exec format error\n' }))
    .ends(5, /netsvc-node-\w+ logs: exec \/usr\/bin\/start_runit: exec format error\n.*means {3}/),
  'the agent runs and does not set up its rules': on('own', [37], { flags: '--timeout 1m' })
    .after(ailing(AGENT, 'not-ready', unhealthy('calico/node is not ready: felix is not ready: probe reporting 503')))
    .ends(124, /says: Unhealthy \(4 times\): .*probe reporting 503\n.*means {3}the agent has not set up its rules yet/),
  'the BGP daemon of the agent does not run': on('own', [38], { flags: '--timeout 1m' })
    .after(ailing(AGENT, 'not-ready', unhealthy('BIRD is not ready: dial unix /var/run/calico/bird.ctl: no such file')))
    .ends(124, /says: Unhealthy .*BIRD is not ready.*\n.*means {3}the BGP daemon of the agent does not run/),
  'the controllers panic': on('own', [39])
    .after(
      ailing(CONTROLLERS, 'crash-loop', {
        exitCode: 2,
        log: 'panic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation violation]\n',
      }),
    )
    .ends(5, /netsvc-kube-controllers-\w+ logs: panic: runtime error[\s\S]*means {3}a program of this image crashed/),
  'the controllers do not reach the API server': on('own', [40], { flags: '--timeout 1m' })
    .after(
      ailing(CONTROLLERS, 'not-ready', {
        log: 'Failed to reach apiserver error=Get "https://10.96.0.1:443/version": dial tcp 10.96.0.1:443: i/o timeout\n',
      }),
    )
    .ends(124, /netsvc-kube-controllers-\w+ logs: Failed to reach apiserver .*\n.*means {3}the pod does not reach/),
  'the controllers cannot write their status': on('own', [42])
    .after(ailing(CONTROLLERS, 'crash-loop', { log: 'Failed to write status: open /status/status.json: permission denied\n' }))
    .ends(5, /netsvc-kube-controllers-\w+ logs: .*\/status\/status\.json: permission denied\n.*means {3}.*securityContext/),
  'certificates of the cluster are over': on('own', [111])
    .after(ailing(AGENT, 'crash-loop', { log: 'FATAL x509: certificate has expired or is not yet valid\n' }))
    .ends(5, /netsvc-node-\w+ logs: FATAL x509.*\n.*means {3}a certificate is not trusted, or has expired/),
  'the registry gives a node no more images': on('own', [105])
    .after(ailing(AGENT, 'image-pull', { event: { reason: 'Failed', message: 'toomanyrequests: pull rate limit' } }))
    .ends(5, /cannot pull registry\.netsvc\.io[\s\S]*toomanyrequests.*\n.*means {3}the registry gives this node no more images/),
  'the CNI plugin does not trust the API server': on('own', [62])
    .after(withoutNetwork(`${SANDBOX} error getting ClusterInformation: Get "https://10.96.0.1:443/": x509: unknown authority`))
    .ends(5, /new pods get no network on a node whose agent is new and ready: node-0\d: shop\/web[\s\S]*means {3}.*kube-root-ca\.crt/),
  'the API server refuses the token of the CNI plugin': on('own', [63, 66])
    .after(withoutNetwork(`${SANDBOX} error getting ClusterInformation: connection is unauthorized: Unauthorized`))
    .ends(
      5,
      /new pods get no network on a node whose agent is new and ready: node-0\d: shop\/web[\s\S]*means {3}.*restart the agent there/,
    ),
  'the store refuses the CNI plugin': on('own', [64])
    .after(withoutNetwork('Failed to create pod sandbox: failed to create pod network sandbox web: netplugin failed with no error message'))
    .ends(
      5,
      /new pods get no network on a node whose agent is new and ready: node-0\d: shop\/web[\s\S]*means {3}.*does not reach the store/,
    ),
  'the operator ends at once for want of a definition': on('operator', [80])
    .after(ailing('tigera-operator', 'crash-loop', { log: 'error: no matches for kind "Gateway" in version "v1"\n' }))
    .ends(5, /tigera-operator-\w+ logs: error: no matches for kind "Gateway".*\n.*means {3}the server lacks a definition/),
  'the operator cannot watch what it needs': on('operator', of('calico#14019'))
    .after(
      ailing('tigera-operator', 'crash-loop', { log: 'Could not wait for Cache to sync: failed to wait for gateway caches to sync\n' }),
    )
    .ends(5, /tigera-operator-\w+ logs: Could not wait for Cache to sync.*\n.*means {3}the operator cannot list or watch a kind/),
  'the programs of the image need a newer C library than the node’s copy has': on('own', of('calico#6715'))
    .after(ailing(AGENT, 'crash-loop', { log: "install-cni: /lib64/libc.so.6: version `GLIBC_2.34' not found\n" }))
    .ends(5, /netsvc-node-\w+ logs: install-cni: .*GLIBC_2\.34.*\n.*means {3}a program of this image needs a newer C library/),
  'the chart release is not where its operator is': on('chart', of('rke2#2932'))
    .after(({ store }) => {
      for (const one of store.list(K.Secret))
        if (one.metadata.name.startsWith('sh.helm.release')) store.delete(K.Secret, one.metadata.name, 'tigera-operator');
      for (const one of storedIn({})) store.insert(K.Secret, { ...one, metadata: { ...one.metadata, namespace: 'default' } });
      const text = (object: KubeObject) =>
        JSON.stringify(object).replaceAll(
          '"meta.helm.sh/release-namespace":"tigera-operator"',
          '"meta.helm.sh/release-namespace":"default"',
        );
      for (const kind of [K.Deployment, K.ServiceAccount, K.ClusterRole, K.ClusterRoleBinding])
        for (const one of store.list(kind)) store.update(kind, JSON.parse(text(one)) as KubeObject);
    })
    .ends(3, /release default\/calico is not in the namespace of its operator, tigera-operator[\s\S]*--move-release[\s\S]*explain NS-244/),
  'the target refuses plain addresses in reservations': on('calico', of('calico#13338'), { command: 'preflight', release: 'v3.32.2' })
    .after(checksNetworks, stored('IPReservation', 'printers', { reservedCIDRs: ['10.244.7.9'] }))
    .ends(3, /^× NS-501 [\s\S]*IPReservation\/printers[\s\S]*reservedCIDRs/m),
  'the status of the address pools stays bad while the v3 API is away': on('operator', [70])
    .after((cluster, scenario) => {
      cluster.store.listen(({ kind, before, after }) => {
        if (kind.kind !== 'TigeraStatus' || before || after?.metadata.name !== 'ippools') return;
        const conditions = [{ type: 'Degraded', status: 'True', reason: 'ResourceUpdateError', message: 'the v3 API is not available' }];
        scenario.clock.schedule(0, () => void cluster.store.update(kind, { ...after, status: { conditions } } as KubeObject));
      });
      operates(cluster, scenario);
    })
    .ends(124, /degraded for 5 minutes: TigeraStatus\/ippools: ResourceUpdateError: the v3 API is not available/),
  'agents are well, and pods of upgraded and old nodes do not reach each other': on('own', [48, 56], { flags: PROBED_NETWORK })
    .after(({ nodes }, { clock }) => clock.schedule(0, () => nodes.fault('node-01', 'no-network')))
    .ends(5, /a new pod on node-01 \(upgraded\) does not reach a pod on node-02[\s\S]*means {3}.*with VXLAN also checksum offload/),
  'the processor of a node is too old for the programs of the image': on('calico', [22], PROBED)
    .after(ending('netsvc-upgrade-node', 127))
    .ends(3, /^× NS-221 [\s\S]*its program cannot run here: exit code 127 \(its loader refuses the processor/m),
  'programs of the image crash on the processor of a node': on('calico', [23], PROBED)
    .after(ending('netsvc-upgrade-node', 139))
    .ends(3, /^× NS-221 [\s\S]*its program cannot run here: exit code 139 \(segmentation fault\)/m),
  'log floods of releases before the oldest that an upgrade begins at': on('old', [61], { release: 'v3.14.2', command: 'preflight' }).ends(
    3,
    /^× NS-106 installed release v3\.15\.5 is newer than the target v3\.14\.2/m,
  ),
  'Whisker asks by a name of another cluster in releases that no operator is upgraded to': on('operator', [75], {
    release: 'v3.30.0',
    command: 'preflight',
  }).ends(3, /^× NS-601 v3\.30\.0 is no target for an installation by operator[\s\S]*choose v3\.32\.0 or later/m),
  'helm would delete the namespace of the operator, which the new chart lacks': on('chart', [86])
    .after(({ store }) => {
      const manifest = '---\napiVersion: v1\nkind: Namespace\nmetadata: { name: tigera-operator }\n';
      for (const one of storedIn({ stored: { manifest } })) store.update(K.Secret, one);
    })
    .ends(3, /^× NS-243 [\s\S]*Namespace\/tigera-operator[\s\S]*helm\.sh\/resource-policy=keep/m),
  'helm refuses a release that holds kinds which are gone': on('chart', [87])
    .after((_, { files }) => files.write(HELM_REFUSES, NO_MATCHES))
    .ends(3, /^× NS-239 [\s\S]*PodSecurityPolicy[\s\S]*mapkubeapis[\s\S]*Nothing was changed/m),
};
