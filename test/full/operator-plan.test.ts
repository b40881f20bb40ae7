import assert from 'node:assert/strict';
import { shared } from '../support/installed-cluster.ts';
import { operatedCluster } from '../support/operated-cluster.ts';
import { releases } from '../support/releases.ts';
import { CALICO_OPERATOR, CALICO_TARGET, pattern } from '../support/target.ts';
import { told } from '../support/upgrade-process.ts';

const CALICO = ['--profile', 'calico', '--release', CALICO_TARGET, '--manifest-url', releases] as const;
/** Share of the recorded times. */
const PACE = 0.1;

describe('the plan of procedure B from a release whose CRDs are applied beside the operator', () => {
  const cluster = shared(() => operatedCluster({ mode: 'well', pace: PACE }));

  it('plan --diff shows the operator and the CRDs, live against planned, and changes nothing', async () => {
    const before = await cluster.versions();
    const { exitCode, stdout, stderr } = await cluster.upgrade('plan', '--diff', '--skip', 'cli', ...CALICO);
    assert.equal(exitCode, 0, told({ exitCode, stdout, stderr }));
    assert.match(stdout, /^--- live\/(Deployment\/tigera-operator\/tigera-operator)\n\+\+\+ planned\/\1\n@@ /m);
    assert.match(stdout, pattern`(?m:^\+ +image: quay\.io/tigera/operator:${CALICO_OPERATOR}$)`);
    assert.match(stdout, /^--- live\/CustomResourceDefinition\/installations\.operator\.tigera\.io$/m);
    assert.equal(/managedFields:|^[-+ ] +description: /m.test(stdout), false);
    assert.equal(await cluster.versions(), before);
  });
});
