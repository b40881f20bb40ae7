import assert from 'node:assert/strict';
import { type ChartParts, chartBench, openedChart, storedIn } from '../../support/chart-bench.ts';

/** Newer than the release, with values that would start another operator. */
const FORGED = { version: 99, config: { tigeraOperator: { registry: 'evil.example.org' } } };
const RELEASE = 'tigera-operator/calico';

async function judged(parts: ChartParts) {
  const { findings } = await openedChart(chartBench({ crdsApplied: true, ...parts }));
  return findings.find(({ id }) => id === 'NS-247') ?? assert.fail('NS-247 was not judged');
}
const accepting = (subject?: string) => ({ accept: [{ check: 'NS-247', ...(subject === undefined ? {} : { subject }) }] });

describe('a chart release that an account without Secrets could have stored', () => {
  const forged = storedIn({ storage: 'ConfigMap', stored: FORGED });

  it('NS-247: is refused where a newer one is in a ConfigMap, with its name and how to read its values', async () => {
    const { outcome, message, hint, next } = await judged({ objects: forged });
    assert.equal(outcome, 'error');
    assert.match(message, /^release tigera-operator\/calico: it is read from configmap\/sh\.helm\.release\.v1\.calico\.v99/);
    assert.match(hint ?? '', /--accept NS-247=tigera-operator\/calico/);
    assert.equal(String(next), 'HELM_DRIVER=configmap helm get values calico --namespace tigera-operator');
  });

  it('NS-247: is accepted by the name of the release alone', async () => {
    assert.equal((await judged({ objects: forged, options: accepting() })).outcome, 'error');
    assert.equal((await judged({ objects: forged, options: accepting('shop/calico') })).outcome, 'error');
    assert.equal((await judged({ objects: forged, options: accepting(RELEASE) })).outcome, 'accepted');
  });

  it('is not looked for in another namespace than the operator names', async () => {
    const stored = { ...FORGED, namespace: 'shop' };
    const bench = chartBench({ crdsApplied: true, storage: 'none', objects: storedIn({ stored }) });
    await assert.rejects(openedChart(bench), {
      code: 'blocked',
      message: /release tigera-operator\/calico, but no such release is stored/,
    });
  });

  it('NS-247: is right in a Secret of the namespace that the operator names', async () => {
    assert.equal((await judged({})).outcome, 'ok');
  });
});
