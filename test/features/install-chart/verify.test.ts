import assert from 'node:assert/strict';
import { pathOf } from '../../../src/features/install/paths.ts';
import { readInstalled } from '../../../src/features/survey/detect.ts';
import { operatorDone as operatorCheck } from '../../../src/features/verify/checks.ts';
import type { VerifyFacts } from '../../../src/features/verify/survey.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { configurationCrd } from '../../support/calico-objects.ts';
import { type ChartParts, chartBench } from '../../support/chart-bench.ts';
import { objectOf } from '../../support/inventory.ts';
import { judgeAll } from '../../support/judged-worlds.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const crd = (plural: string, kind: string): KubeObject =>
  objectOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition', `${plural}.operator.tigera.io`, {
    spec: {
      group: 'operator.tigera.io',
      names: { kind, plural },
      scope: 'Cluster',
      versions: [{ name: 'v1', served: true, storage: true }],
    },
  });
const status = (name: string, degraded?: string): KubeObject =>
  objectOf('operator.tigera.io/v1', 'TigeraStatus', name, {
    status: {
      conditions: [
        { type: 'Available', status: 'True' },
        { type: 'Progressing', status: 'False' },
        {
          type: 'Degraded',
          status: degraded === undefined ? 'False' : 'True',
          ...(degraded ? { reason: 'ResourceReadError', message: degraded } : {}),
        },
      ],
    },
  });

/** What NS-310 says of a release that is at the target. */
async function operatorDone(degraded: string | undefined, more: ChartParts = {}) {
  const stored = { chart: { metadata: { name: 'tigera-operator', version: CALICO_TARGET }, values: {} } };
  const objects = [crd('tigerastatuses', 'TigeraStatus'), configurationCrd, status('calico', degraded)];
  const { sources, context } = chartBench({ stored, crdsApplied: true, objects, ...more });
  const installation = await readInstalled(sources, context);
  const lags = await pathOf(installation).lags(sources, context, installation);
  const [found] = judgeAll([operatorCheck], { operator: { value: lags } } as unknown as VerifyFacts, context);
  return found ?? assert.fail();
}

describe('verify on the chart path', () => {
  it('NS-310: reads statuses, the reported release and the API, which need no rendered chart', async () => {
    const found = await operatorDone('Secret "x" not found');
    assert.equal(found.outcome, 'error');
    const told = found.evidence.map(({ text, detail }) => `${text}: ${detail}`);
    assert.ok(told.includes('TigeraStatus/calico: Degraded is True (ResourceReadError: Secret "x" not found)'), told.join('\n'));
    assert.ok(told.some((text) => text.startsWith('Installation/default: reports')));
  });

  it('NS-310: does not ask for a status that is good', async () => {
    const told = (await operatorDone(undefined)).evidence.map(({ text, detail }) => `${text}: ${detail}`);
    assert.equal(
      told.some((text) => text.startsWith('TigeraStatus/calico: Degraded')),
      false,
    );
  });

  it('NS-310: goes by the operator that runs where the release may not be read', async () => {
    const told = (await operatorDone('x', { forbidden: true })).evidence;
    assert.equal(
      told.some(({ detail }) => /an image that cannot be told/.test(detail ?? '')),
      false,
    );
    assert.ok(told.some(({ text }) => text === 'TigeraStatus/calico'));
  });
});
