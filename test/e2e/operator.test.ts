import assert from 'node:assert/strict';
import { assertWritesNothing, shared } from '../support/installed-cluster.ts';
import { operatedCluster } from '../support/operated-cluster.ts';
import { releases } from '../support/releases.ts';
import { CALICO_OPERATOR, CALICO_TARGET } from '../support/target.ts';
import { assertSucceeded, killedAt, told } from '../support/upgrade-process.ts';

const CALICO = ['--profile', 'calico', '--release', CALICO_TARGET, '--manifest-url', releases] as const;
const RUN = ['run', '--yes', '--skip', 'cli', ...CALICO] as const;
const IMAGE = '{.spec.template.spec.containers[0].image}';
/** Share of the recorded times. */
const PACE = 0.1;

describe('procedure B on a real control plane, the operator played', () => {
  const cluster = shared(() => operatedCluster({ mode: 'well', pace: PACE }));

  it('plan --diff shows the operator and the CRDs, live against planned, and changes nothing', async () => {
    const before = await cluster.versions();
    const { exitCode, stdout, stderr } = await cluster.upgrade('plan', '--diff', '--skip', 'cli', ...CALICO);
    assert.equal(exitCode, 0, told({ exitCode, stdout, stderr }));
    assert.match(stdout, /^--- live\/(Deployment\/tigera-operator\/tigera-operator)\n\+\+\+ planned\/\1\n@@ /m);
    assert.match(stdout, /^\+ +image: quay\.io\/tigera\/operator:v1\.42\.3$/m);
    assert.match(stdout, /^--- live\/CustomResourceDefinition\/installations\.operator\.tigera\.io$/m);
    assert.equal(/managedFields:|^[-+ ] +description: /m.test(stdout), false);
    assert.equal(await cluster.versions(), before);
  });

  it('killed once the operator is applied, and run again, brings every component to the target', async () => {
    await killedAt(RUN, cluster.around, /wait for Deployment\/tigera-operator/);
    assertSucceeded(await cluster.upgrade(...RUN));
    assert.equal(await cluster.read('deploy -n tigera-operator tigera-operator', IMAGE), `quay.io/tigera/operator:${CALICO_OPERATOR}`);
    assert.equal(await cluster.read('installations default', '{.status.calicoVersion}'), CALICO_TARGET);
    assert.match(await cluster.read('ds -n calico-system calico-node', IMAGE), /:v3\.32\.1$/);
  });

  it('has held Typha until then, and leaves no annotation of it, on ReplicaSets neither', async () => {
    assert.match(await cluster.read('deploy -n calico-system calico-typha', IMAGE), /:v3\.32\.1$/);
    const marks = await cluster.read('deployments,replicasets -n calico-system', '{.items[*].metadata.annotations}');
    assert.doesNotMatch(marks, /unsupported\.operator|netsvc-upgrade/);
  });

  it('a second run writes nothing', async () => {
    await assertWritesNothing(cluster, () => cluster.upgrade(...RUN));
  });
});
