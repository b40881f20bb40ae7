import assert from 'node:assert/strict';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { SandboxCluster } from '../../src/sandbox/sandbox-cluster.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import type { Change } from '../../src/sandbox/store.ts';
import { storedIn } from '../support/chart-bench.ts';
import type { GroundName } from '../support/incident-grounds.ts';
import { HELM_REFUSES } from '../support/played-helm.ts';
import { ailing, operates, withoutNetwork } from './ailing-pods.ts';

/** A cluster like one that broke, and what is so once the command has ended. */
export interface IncidentRun {
  /** Rows of the account (incidents-table.ts). */
  readonly rows: readonly number[];
  readonly ground: GroundName;
  /** v3.32.1 unless said. */
  readonly release?: string;
  /** What makes the ground one of those clusters. */
  readonly change?: (cluster: SandboxCluster, scenario: Scenario) => unknown;
  /** `run` unless said. */
  readonly command?: readonly string[];
  readonly flags?: readonly string[];
  readonly exit: number;
  readonly holds: (after: After) => unknown;
}

export interface After {
  readonly scenario: Scenario;
  /** What the command printed. */
  readonly text: string;
  /** What happened in the cluster, in order. */
  readonly changes: readonly Change[];
}

/** What the operator does in any case, and a person takes on by name. */
export const TAKEN_ON = ['--accept', 'NS-251=Deployment/calico-system/calico-typha'];
const PROBE = ['--probe-network', '--probe-image', 'registry.example.org/busybox:1.37', '--probe-namespace', 'default'];
const operated = { ground: 'operator', flags: TAKEN_ON } as const;

const says =
  (words: RegExp) =>
  ({ text }: After) =>
    assert.match(text, words);
const AGENT = 'netsvc-node';
const CONTROLLERS = 'netsvc-kube-controllers';
const unhealthy = (message: string) => ({ event: { reason: 'Unhealthy', message: `Readiness probe failed: ${message}` } });
const SANDBOX = 'Failed to create pod sandbox: plugin type="calico" failed (add):';

/** The rollout fails as in the thread: `run` stops and says what that means. */
export const stoppedRuns: Readonly<Record<string, IncidentRun>> = {
  'the program of the new image crashes on this processor': {
    ...{ rows: [24], ground: 'own', exit: 5 },
    change: ailing({ pods: AGENT, state: 'crash-loop', exitCode: 139 }),
    holds: says(/CrashLoopBackOff, last exit 139[\s\S]*this means: a program of this image crashed/),
  },
  'a layer of the image is broken on some nodes': {
    ...{ rows: [25], ground: 'own', exit: 5 },
    change: ailing({ pods: AGENT, state: 'crash-loop', log: 'exec /usr/bin/start_runit: exec format error\n' }),
    holds: says(/netsvc-node-\w+ logs: exec \/usr\/bin\/start_runit: exec format error\n.*this means: /),
  },
  'the agent runs and does not set up its rules': {
    ...{ rows: [37], ground: 'own', exit: 124, flags: ['--timeout', '1m'] },
    change: ailing({ pods: AGENT, state: 'not-ready', ...unhealthy('calico/node is not ready: felix is not ready: probe reporting 503') }),
    holds: says(/says: Unhealthy \(4 times\): .*probe reporting 503\n.*this means: the agent has not set up its rules yet/),
  },
  'the BGP daemon of the agent does not run': {
    ...{ rows: [38], ground: 'own', exit: 124, flags: ['--timeout', '1m'] },
    change: ailing({
      pods: AGENT,
      state: 'not-ready',
      ...unhealthy('BIRD is not ready: dial unix /var/run/calico/bird.ctl: no such file'),
    }),
    holds: says(/says: Unhealthy .*BIRD is not ready.*\n.*this means: the BGP daemon of the agent does not run/),
  },
  'the controllers panic': {
    ...{ rows: [39], ground: 'own', exit: 5 },
    change: ailing({
      ...{ pods: CONTROLLERS, state: 'crash-loop', exitCode: 2 },
      log: 'panic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation violation]\n',
    }),
    holds: says(/netsvc-kube-controllers-\w+ logs: panic: runtime error[\s\S]*this means: a program of this image crashed/),
  },
  'the controllers do not reach the API server': {
    ...{ rows: [40], ground: 'own', exit: 124, flags: ['--timeout', '1m'] },
    change: ailing({
      ...{ pods: CONTROLLERS, state: 'not-ready' },
      log: 'Failed to reach apiserver error=Get "https://10.96.0.1:443/version": dial tcp 10.96.0.1:443: i/o timeout\n',
    }),
    holds: says(/netsvc-kube-controllers-\w+ logs: Failed to reach apiserver .*\n.*this means: the pod does not reach/),
  },
  'the controllers cannot write their status': {
    ...{ rows: [42], ground: 'own', exit: 5 },
    change: ailing({
      pods: CONTROLLERS,
      state: 'crash-loop',
      log: 'Failed to write status: open /status/status.json: permission denied\n',
    }),
    holds: says(/netsvc-kube-controllers-\w+ logs: .*\/status\/status\.json: permission denied\n.*this means: .*securityContext/),
  },
  'certificates of the cluster are over': {
    ...{ rows: [111], ground: 'own', exit: 5 },
    change: ailing({ pods: AGENT, state: 'crash-loop', log: 'FATAL x509: certificate has expired or is not yet valid\n' }),
    holds: says(/netsvc-node-\w+ logs: FATAL x509.*\n.*this means: a certificate is not trusted, or has expired/),
  },
  'the registry gives a node no more images': {
    ...{ rows: [105], ground: 'own', exit: 5 },
    change: ailing({ pods: AGENT, state: 'image-pull', event: { reason: 'Failed', message: 'toomanyrequests: pull rate limit' } }),
    holds: says(/cannot pull registry\.netsvc\.io[\s\S]*toomanyrequests.*\n.*this means: the registry gives this node no more images/),
  },
  'the CNI plugin does not trust the API server': {
    ...{ rows: [62], ground: 'own', exit: 5 },
    change: withoutNetwork(`${SANDBOX} error getting ClusterInformation: Get "https://10.96.0.1:443/": x509: unknown authority`),
    holds: says(
      /new pods get no network on a node whose agent is new and ready: node-0\d: shop\/web[\s\S]*this means: .*kube-root-ca\.crt/,
    ),
  },
  'the API server refuses the token of the CNI plugin': {
    ...{ rows: [63, 66], ground: 'own', exit: 5 },
    change: withoutNetwork(`${SANDBOX} error getting ClusterInformation: connection is unauthorized: Unauthorized`),
    holds: says(
      /new pods get no network on a node whose agent is new and ready: node-0\d: shop\/web[\s\S]*this means: .*restart the agent there/,
    ),
  },
  'the store refuses the CNI plugin': {
    ...{ rows: [64], ground: 'own', exit: 5 },
    change: withoutNetwork(
      'Failed to create pod sandbox: failed to create pod network sandbox web: netplugin failed with no error message',
    ),
    holds: says(
      /new pods get no network on a node whose agent is new and ready: node-0\d: shop\/web[\s\S]*this means: .*does not reach the store/,
    ),
  },
  'the operator ends at once for want of a definition': {
    ...{ rows: [80], ...operated, exit: 5 },
    change: ailing({ pods: 'tigera-operator', state: 'crash-loop', log: 'error: no matches for kind "Gateway" in version "v1"\n' }),
    holds: says(/tigera-operator-\w+ logs: error: no matches for kind "Gateway".*\n.*this means: the server lacks a definition/),
  },
  'the status of the address pools stays bad while the v3 API is away': {
    ...{ rows: [70], ...operated, exit: 124 },
    change: (cluster, scenario) => {
      cluster.store.listen(({ kind, before, after }) => {
        if (kind.kind !== 'TigeraStatus' || before || after?.metadata.name !== 'ippools') return;
        const conditions = [{ type: 'Degraded', status: 'True', reason: 'ResourceUpdateError', message: 'the v3 API is not available' }];
        scenario.clock.schedule(0, () => void cluster.store.update(kind, { ...after, status: { conditions } } as KubeObject));
      });
      operates(cluster, scenario);
    },
    holds: says(/degraded for 5 minutes: TigeraStatus\/ippools: ResourceUpdateError: the v3 API is not available/),
  },
  'Typha refuses agents that the operator has not replaced yet': {
    ...{ rows: [33], ground: 'operator', exit: 3 },
    holds: says(/^× NS-251 .*Typha v3\.32\.0 refuses older agents/m),
  },
  'agents are well, and pods of upgraded and old nodes do not reach each other': {
    ...{ rows: [48, 56], ground: 'own', flags: PROBE, exit: 5 },
    change: ({ nodes }, { clock }) => clock.schedule(0, () => nodes.fault('node-01', 'no-network')),
    holds: says(/a new pod on node-01 \(upgraded\) does not reach a pod on node-02[\s\S]*this means: .*with VXLAN also checksum offload/),
  },
  'the processor of a node is too old for the programs of the image': {
    ...{ rows: [22], ground: 'calico', command: ['preflight', '--probe-images', '--yes'], exit: 3 },
    change: ailing({ pods: 'netsvc-upgrade-probe', state: 'crash-loop', exitCode: 127 }),
    holds: says(/^× NS-221 [\s\S]*its program cannot run here: exit code 127 \(its loader refuses the processor/m),
  },
  'programs of the image crash on the processor of a node': {
    ...{ rows: [23], ground: 'calico', command: ['preflight', '--probe-images', '--yes'], exit: 3 },
    change: ailing({ pods: 'netsvc-upgrade-probe', state: 'crash-loop', exitCode: 139 }),
    holds: says(/^× NS-221 [\s\S]*its program cannot run here: exit code 139 \(segmentation fault\)/m),
  },
  'log floods of releases before the oldest that an upgrade begins at': {
    ...{ rows: [61], ground: 'old', release: 'v3.14.2', command: ['preflight'], exit: 3 },
    holds: says(/^× NS-106 installed release v3\.15\.5 is newer than the target v3\.14\.2/m),
  },
  'Whisker asks by a name of another cluster in releases that no operator is upgraded to': {
    ...{ rows: [75], ground: 'operator', release: 'v3.30.0', command: ['preflight'], exit: 3 },
    holds: says(/^× NS-601 v3\.30\.0 is no target for an installation by operator[\s\S]*choose v3\.32\.0 or later/m),
  },
  'helm would delete the namespace of the operator, which the new chart lacks': {
    ...{ rows: [86], ...operated, ground: 'chart', exit: 3 },
    change: ({ store }) => {
      const manifest = '---\napiVersion: v1\nkind: Namespace\nmetadata: { name: tigera-operator }\n';
      for (const one of storedIn({ stored: { manifest } })) store.update(K.Secret, one);
    },
    holds: says(/^× NS-243 [\s\S]*Namespace\/tigera-operator[\s\S]*helm\.sh\/resource-policy=keep/m),
  },
  'helm refuses a release that holds kinds which are gone': {
    ...{ rows: [87], ...operated, ground: 'chart', exit: 3 },
    change: (_, { files }) =>
      files.write(
        HELM_REFUSES,
        'Error: UPGRADE FAILED: unable to build kubernetes objects from current release manifest: no matches for kind "PodSecurityPolicy" in version "policy/v1beta1"\n',
      ),
    holds: says(/^× NS-239 [\s\S]*PodSecurityPolicy[\s\S]*mapkubeapis[\s\S]*Nothing was changed/m),
  },
};
