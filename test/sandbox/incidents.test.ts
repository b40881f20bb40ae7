import assert from 'node:assert/strict';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { virtualClock } from '../../src/sandbox/clock.ts';
import type { SandboxCluster } from '../../src/sandbox/sandbox-cluster.ts';
import { netsvcScenario } from '../../src/sandbox/scenario.ts';
import { sandboxCommand, sandboxReleases } from '../support/sandbox-command.ts';

interface Incident {
  /** What makes the cluster one of those that it happened to. */
  readonly world: (cluster: SandboxCluster) => unknown;
  readonly check: string;
  readonly severity: 'error' | 'warning';
  readonly says: RegExp;
}

const namespaceRef = { apiVersion: 'v1', kind: 'Namespace', name: 'kube-system' };
const labelled = (cluster: SandboxCluster, labels: Readonly<Record<string, string>>) =>
  cluster.registry.mergePatch(K.Namespace, namespaceRef, { metadata: { labels } }, { manager: 'world' });

/** An admission webhook that must be asked about every new pod, and the Service before its own pods. */
function withWebhook({ registry }: SandboxCluster): void {
  const service = { namespace: 'kyverno', name: 'kyverno-svc' };
  const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], scope: '*' }];
  const webhook = { name: 'validate.kyverno.svc', failurePolicy: 'Fail', rules, clientConfig: { service }, sideEffects: 'None' };
  const manager = 'world';
  registry.create(K.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: service.namespace } }, { manager });
  registry.create(
    K.Service,
    { apiVersion: 'v1', kind: 'Service', metadata: service, spec: { selector: { app: 'kyverno' }, ports: [{ port: 443 }] } },
    { manager },
  );
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const kind = 'ValidatingWebhookConfiguration';
  registry.create(K[kind], { apiVersion, kind, metadata: { name: 'kyverno' }, webhooks: [webhook] } as KubeObject, { manager });
}

/** Real upgrades that broke, by what the preflight of this program says beforehand. */
const INCIDENTS: Readonly<Record<string, Incident>> = {
  'pod security admission refuses the new pods of the agents': {
    world: (cluster) => labelled(cluster, { 'pod-security.kubernetes.io/enforce': 'restricted' }),
    check: 'NS-610',
    severity: 'error',
    says: /violates PodSecurity "restricted:latest"[\s\S]*kubectl label namespace kube-system pod-security\.kubernetes\.io\/enforce=privileged/,
  },
  'a webhook on the pod network must admit the pods of the agents': {
    world: withWebhook,
    check: 'NS-611',
    severity: 'warning',
    says: /ValidatingWebhookConfiguration\/kyverno\/validate\.kyverno\.svc[\s\S]*Exempt the namespace at the webhook/,
  },
};

const ground = () =>
  netsvcScenario({
    nodes: 2,
    releasesFolder: sandboxReleases,
    clock: virtualClock({ start: new Date('2026-11-21T02:00:00Z') }),
    cli: false,
  });

describe('an upgrade on a cluster where real ones broke', () => {
  for (const [title, { world, check, severity, says }] of Object.entries(INCIDENTS))
    it(`${severity === 'error' ? 'stops before it writes' : 'warns'}: ${title}`, async () => {
      const scenario = await ground();
      const untouched = sandboxCommand(scenario);
      await untouched.run('preflight');
      assert.doesNotMatch(untouched.out(), new RegExp(`^[×‼] ${check} `, 'm'));
      await world(scenario.cluster);
      scenario.cluster.faults.writes = 0;
      const bench = sandboxCommand(scenario);
      const exit = severity === 'error' ? await bench.run('run', '--yes', '--skip', 'cli') : await bench.run('preflight');
      const text = bench.out() + bench.err();
      assert.equal(exit, severity === 'error' ? 3 : 0, text);
      assert.match(text, new RegExp(`^${severity === 'error' ? '×' : '‼'} ${check} `, 'm'));
      assert.match(text, says);
      assert.equal(scenario.cluster.faults.writes, 0);
    });
});
