import assert from 'node:assert/strict';
import { type ChartParts, chartBench, commandsOf, openedChart } from '../../support/chart-bench.ts';

const OLD = `---
apiVersion: apps/v1
kind: Deployment
metadata: { name: tigera-operator, namespace: tigera-operator }
spec: { template: { spec: { containers: [{ name: tigera-operator, image: "quay.io/tigera/operator:v1.30.4" }] } } }
`;

/** The release in ConfigMaps, for an account that may not read Secrets. */
async function judged(stored: Readonly<Record<string, unknown>>, more: ChartParts = {}) {
  const bench = chartBench({ storage: 'ConfigMap', forbidden: true, crdsApplied: true, stored, ...more });
  const { findings, plan } = await openedChart(bench);
  const found = findings.find(({ id }) => id === 'NS-231') ?? assert.fail('NS-231 was not judged');
  return { ...found, commands: commandsOf(plan) };
}

describe('a chart release in ConfigMaps where Secrets may not be read: they may hold a newer one', () => {
  it('NS-231: is not taken where another operator runs than it has', async () => {
    const { outcome, message, hint, commands } = await judged({ manifest: OLD });
    assert.equal(outcome, 'error');
    assert.match(message, /Secrets .* may not be read, and revision 3 in configmap\/sh\.helm\.release\.v1\.calico\.v3 may be an old one/);
    assert.match(message, /it has not the operator that runs \(quay\.io\/tigera\/operator:v1\.32\.12\)/);
    assert.match(hint ?? '', /account that may get/);
    assert.deepEqual(commands, []);
  });

  for (const status of ['superseded', 'uninstalled']) {
    it(`NS-231: is not taken where its newest revision is ${status}`, async () => {
      const { outcome, message } = await judged({ info: { status } });
      assert.equal(outcome, 'error');
      assert.match(message, new RegExp(`it is ${status}`));
    });
  }

  it('NS-231: is taken after a failed revision by which the operator that runs was not changed', async () => {
    const { outcome, commands } = await judged({ info: { status: 'failed', description: 'conflict' } });
    assert.equal(outcome, 'ok');
    assert.match(commands[0] ?? '', /^HELM_DRIVER=configmap helm upgrade/);
  });

  it('NS-231: is judged by its status alone where Secrets may be read', async () => {
    assert.equal((await judged({ manifest: OLD }, { forbidden: false })).outcome, 'ok');
  });
});
