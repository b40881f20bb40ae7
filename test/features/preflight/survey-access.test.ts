import assert from 'node:assert/strict';
import { runNeeds } from '../../../src/features/chain.ts';
import { surveyPreflight } from '../../../src/features/preflight/stage.ts';
import { accessText, type Sources } from '../../../src/kernel/ports.ts';
import type { ApplyBench } from '../../support/apply-bench.ts';
import { type ChartParts, chartBench } from '../../support/chart-bench.ts';
import { emptySources } from '../../support/empty-sources.ts';
import { operatedBench } from '../../support/operated-bench.ts';
import { CALICO_TARGET } from '../../support/target.ts';

/** What NS-009 asks of the account: `create secrets in tigera-operator`; `?` where a run can do without. */
async function asked({ sources, context }: Pick<ApplyBench, 'context'> & { readonly sources: Sources }): Promise<readonly string[]> {
  const cluster: Sources['cluster'] = {
    ...sources.cluster,
    version: async () => ({ gitVersion: 'v1.35.1', major: '1', minor: '35' }),
    clockSkewMs: async () => 0,
    reviewAccess: async (requests) => requests.map(() => true),
  };
  const lock: Sources['lock'] = { identity: 'nobody', holder: async () => undefined };
  const tools: Sources['tools'] = {
    ...sources.tools,
    which: async () => [],
    platform: () => ({ os: 'linux', arch: 'amd64' }),
    run: async (run, options) =>
      run.tool === 'helm' ? sources.tools.run(run, options) : { exitCode: 1, stdout: '', stderr: 'not here', durationMs: 1 },
  };
  const work: Sources['work'] = { ...emptySources().work, ...sources.work };
  const { access } = await surveyPreflight({ ...sources, cluster, lock, tools, work }, context, runNeeds);
  assert.ok('value' in access, JSON.stringify(access));
  return access.value.map(({ request, required }) => `${accessText(request)}${required ? '' : '?'}`);
}

const OPERATOR = `apiVersion: apps/v1
kind: Deployment
metadata: { name: tigera-operator }
spec: { template: { spec: { containers: [{ name: tigera-operator, image: "quay.io/tigera/operator:v1.42.3" }] } } }
---
apiVersion: operator.tigera.io/v1
kind: Installation
metadata: { name: default }
---
apiVersion: operator.tigera.io/v1
kind: Goldmane
metadata: { name: default }
`;
const ofChart = (parts: ChartParts = {}) => asked(chartBench({ crdsApplied: true, trial: { manifest: OPERATOR }, ...parts }));
const ACCOUNT = { manifest: 'apiVersion: v1\nkind: ServiceAccount\nmetadata: { name: gone }\n' };

describe('the permissions that preflight asks for', () => {
  it('are, for flow logs on the operator’s path, those on the resources that are switched on', async () => {
    const wanted = ['get', 'create', 'patch'].flatMap((verb) =>
      ['goldmanes', 'whiskers'].map((one) => `${verb} ${one}.operator.tigera.io`),
    );
    const requests = await asked(await operatedBench({ options: { enableFlowLogs: true } }));
    assert.deepEqual(
      wanted.filter((one) => !requests.includes(one)),
      [],
    );
    const without = await asked(await operatedBench());
    assert.deepEqual(
      wanted.filter((one) => without.includes(one)),
      [],
    );
  });

  it('are, on the chart’s path, those on every object that helm renders', async () => {
    const requests = await ofChart();
    for (const object of ['deployments.apps in tigera-operator', 'installations.operator.tigera.io', 'goldmanes.operator.tigera.io'])
      for (const verb of ['get', 'create', 'patch']) assert.ok(requests.includes(`${verb} ${object}`), `${verb} ${object}`);
  });

  it('are those on what the chart tool renders by itself while the server cannot try the upgrade', async () => {
    const requests = await ofChart({ crdsApplied: false, trial: { error: 'no matches for kind "Goldmane"' }, rendered: OPERATOR });
    for (const one of ['create goldmanes.operator.tigera.io', 'patch deployments.apps in tigera-operator'])
      assert.ok(requests.includes(one), one);
  });

  it('are those on what the old revision holds where no chart can be rendered', async () => {
    assert.ok(
      (await ofChart({ trial: { error: 'values do not fit' }, rendered: 'no: [' })).includes('patch deployments.apps in tigera-operator'),
    );
  });

  it('include what helm takes away, without which it goes on all the same', async () => {
    const requests = await ofChart({ stored: ACCOUNT });
    assert.ok(requests.includes('delete serviceaccounts in tigera-operator?'), requests.join('\n'));
  });

  for (const [storage, resource, other] of [
    ['Secret', 'secrets', 'configmaps'],
    ['ConfigMap', 'configmaps', 'secrets'],
  ] as const)
    it(`are those on the ${resource} that the release is stored in, and on no ${other}`, async () => {
      const requests = await ofChart({ storage });
      for (const verb of ['create', 'delete', 'get', 'list', 'update'])
        assert.ok(requests.includes(`${verb} ${resource} in tigera-operator`), verb);
      assert.deepEqual(
        requests.filter((one) => one.includes(` ${other} in tigera-operator`)),
        // Certificates that the operator keeps are asked for by name, and never needed.
        other === 'secrets' ? ['get secrets in tigera-operator?'] : [],
      );
    });

  it('are for no release where it is at the target, and for no CRD where the operator brings them', async () => {
    const chart = { metadata: { name: 'tigera-operator', version: CALICO_TARGET }, values: { manageCRDs: true } };
    const config = { manageCRDs: false, goldmane: { enabled: false }, whisker: { enabled: false } };
    const done = await ofChart({ stored: { chart, config } });
    assert.deepEqual(
      done.filter((one) => / in tigera-operator\??$/.test(one)),
      ['get secrets in tigera-operator', 'list secrets in tigera-operator', 'get deployments.apps in tigera-operator'],
      'a backup reads the release and what it holds',
    );
    const known = { chart: { metadata: { name: 'tigera-operator', version: 'v3.30.7' }, values: { manageCRDs: true } } };
    const left = await ofChart({ stored: known, options: { manageCrds: true } });
    assert.ok(!left.includes('patch customresourcedefinitions.apiextensions.k8s.io'));
  });

  it('do without listing Secrets everywhere: a release is told by what it left on its objects, too', async () => {
    const requests = await ofChart();
    assert.ok(requests.includes('list secrets?') && !requests.includes('list secrets'));
  });
});
