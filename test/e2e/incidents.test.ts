import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openCluster } from '../../src/adapters/kube/cluster.ts';
import { readConnection } from '../../src/adapters/kubeconfig/kubeconfig.ts';
import { readCertificates } from '../../src/features/survey/operated.ts';
import type { Installation } from '../../src/kernel/installation.ts';
import { K } from '../../src/kernel/kinds.ts';
import { calico } from '../../src/profiles/calico.ts';
import { createAuthority } from '../control-plane/certificates.ts';
import { contextOf } from '../fixtures/facts.ts';
import { installedCluster, shared } from '../support/installed-cluster.ts';
import { manifestFile, ownReleases } from '../support/releases.ts';
import { CALICO_TARGET, NETSVC_TARGET } from '../support/target.ts';
import { assertSucceeded } from '../support/upgrade-process.ts';

const RUN = ['run', '--yes', '--skip', 'cli', '--manifest-url', ownReleases] as const;
const SYSTEM = { namespace: 'kube-system' };

/** What only the API server itself decides; the rest is in test/sandbox/incidents.test.ts. */
describe('an upgrade on a real control plane like those that broke', function () {
  this.timeout(120_000);
  const cluster = shared(() => installedCluster({ manifest: manifestFile('v3.26.4', 'netsvc.yaml', ownReleases), nodes: 2 }));

  it('stops before it writes where pod security refuses the new pods, in the words of the server', async () => {
    const label = 'pod-security.kubernetes.io/enforce';
    await kubectl('label', 'namespace', 'kube-system', `${label}=baseline`);
    await stopped([/× NS-610 [\s\S]*violates PodSecurity "baseline:latest": [\s\S]*kubectl label namespace kube-system/]);
    await kubectl('label', 'namespace', 'kube-system', `${label}-`);
  });

  it('stops where a quota refuses them, and not where the old pod leaves its place to the new one', async () => {
    const quota = (hard: object) =>
      apply({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'tight', ...SYSTEM }, spec: { hard } });
    await quota({ 'limits.memory': '1Gi' });
    await stopped([/× NS-610 [\s\S]*failed quota: tight: must specify limits\.memory[\s\S]*describe resourcequotas/]);
    await quota({ pods: '3' });
    assert.doesNotMatch(await preflight(), /NS-610/);
    await kubectl('delete', 'resourcequota', '-n', 'kube-system', 'tight');
  });

  it('stops where a webhook must admit them and does not answer, and names what to exempt', async () => {
    const service = { namespace: 'kube-system', name: 'policy' };
    await apply({ apiVersion: 'v1', kind: 'Service', metadata: service, spec: { selector: { app: 'policy' }, ports: [{ port: 443 }] } });
    const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }];
    const webhook = { name: 'pods.policy.example', clientConfig: { service }, rules, failurePolicy: 'Fail', sideEffects: 'None' };
    const kind = 'ValidatingWebhookConfiguration';
    const webhooks = [{ ...webhook, admissionReviewVersions: ['v1'], timeoutSeconds: 2 }];
    await apply({ apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name: 'policy' }, webhooks });
    await stopped([/× NS-610 [\s\S]*failed calling webhook "pods\.policy\.example"/, /‼ NS-611 [\s\S]*values: \[kube-system\]/]);
    await kubectl('delete', kind.toLowerCase(), 'policy');
  });

  it('reads certificates by the rights that are printed: each by its name, and no other Secret', async () => {
    const { certificate, key } = createAuthority('Example CA').issue({ commonName: 'api', hosts: ['calico-api.calico-apiserver.svc'] });
    await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tigera-operator' } });
    const names = ['calico-apiserver-certs', 'node-certs', 'typha-certs'];
    const data = { 'tls.crt': btoa(certificate), 'tls.key': btoa(key) };
    for (const name of [...names, 'other'])
      await apply({ apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls', metadata: { name, namespace: 'tigera-operator' }, data });
    const given = names.map((name) => `--resource-name=${name}`);
    await kubectl('create', 'role', 'certificates', '-n', 'tigera-operator', '--verb=get', '--resource=secrets', ...given);
    await kubectl('create', 'rolebinding', 'certificates', '-n', 'tigera-operator', '--role=certificates', '--user=reader');
    const connection = await readConnection({ kubeconfig: cluster.plane.kubeconfigPath, as: 'reader' }, process.env);
    const reader = openCluster(connection, { version: 'test' });
    try {
      const installation = { hasApiServer: true, release: 'v3.27.5' } as Installation;
      const found = await readCertificates(reader, contextOf({ release: CALICO_TARGET }, calico), installation);
      assert.deepEqual(found.map(({ secret }) => secret).toSorted(), names);
      for (const { issuer, names: hosts, until, ...rest } of found) {
        assert.deepEqual([issuer, hosts], ['Example CA', ['calico-api.calico-apiserver.svc']]);
        assert.ok(until > Date.now());
        assert.deepEqual(Object.keys(rest).toSorted(), ['namespace', 'secret']);
      }
      await assert.rejects(reader.get(K.Secret, 'other', 'tigera-operator'), { status: 403 });
    } finally {
      await reader.close();
    }
  });

  it('stops for a setting that the definition of the target refuses, as the server refuses it then', async () => {
    const felix = { apiVersion: 'crd.netsvc.io/v1', kind: 'FelixConfiguration', metadata: { name: 'default' } };
    await apply({ ...felix, spec: { logPrefix: '"it"' } });
    const text = readFileSync(manifestFile(NETSVC_TARGET, 'netsvc.yaml', ownReleases), 'utf8');
    const [head = '', own = ''] = text.split('name: felixconfigurations.crd.netsvc.io');
    const strict = own.replace(
      'spec: { type: object,',
      "spec: { type: object, properties: { logPrefix: { type: string, pattern: '^[a-z ]+' } },",
    );
    const file = join(cluster.around.home, 'strict.yaml');
    writeFileSync(file, [head, strict].join('name: felixconfigurations.crd.netsvc.io'));
    await stopped([/× NS-501 [\s\S]*FelixConfiguration\/default[\s\S]*logPrefix/], '--upgrade-file', file);
    await kubectl('apply', '--server-side', '--force-conflicts', '-f', file);
    const other = JSON.stringify({ ...felix, spec: { logPrefix: '"them"' } });
    const { stderr } = await cluster.plane.kubectl(['apply', '-f', '-'], other);
    assert.match(stderr, /spec\.logPrefix: Invalid value/);
  });

  /** Exit 3 with these words, and nothing of the service was written. */
  async function stopped(says: readonly RegExp[], ...flags: readonly string[]): Promise<void> {
    const before = await cluster.versions();
    const { exitCode, stdout, stderr } = await cluster.upgrade(...RUN, ...flags);
    assert.equal(exitCode, 3, stdout + stderr);
    for (const one of says) assert.match(stdout, one);
    assert.deepEqual(await cluster.versions(), before);
  }

  async function preflight(): Promise<string> {
    const { exitCode, stdout, stderr } = await cluster.upgrade('preflight', '--manifest-url', ownReleases);
    assert.equal(exitCode, 0, stdout + stderr);
    return stdout;
  }

  async function kubectl(...args: readonly string[]): Promise<void> {
    assertSucceeded(await cluster.plane.kubectl(args));
  }

  async function apply(object: object): Promise<void> {
    assertSucceeded(await cluster.plane.kubectl(['apply', '-f', '-'], JSON.stringify(object)));
  }
});
