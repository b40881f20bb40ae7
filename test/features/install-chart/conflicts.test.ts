import assert from 'node:assert/strict';
import { type ChartParts, chartBench, commandsOf, openedChart } from '../../support/chart-bench.ts';

const editedOperator = {
  manager: 'kubectl-set',
  operation: 'Update',
  fieldsV1: {
    'f:spec': {
      'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"tigera-operator"}': { 'f:image': {} } } } },
    },
  },
};

describe('fields that a person has set and the chart would set otherwise', () => {
  for (const [helm, method, forced] of [
    ['v3.19.5', undefined, false],
    ['v4.3.1', 'ssa', true],
    // A release of helm 3: helm 4 stays with client-side apply, and refuses the flag there.
    ['v4.3.1', undefined, false],
    ['v4.3.1', 'csa', false],
    ['v3.19.5', 'ssa', false],
  ] as const) {
    it(`NS-241: names fields set by hand before ${helm} takes them (${method ?? 'no'} method), and takes them only once accepted`, async () => {
      const accept = [{ check: 'NS-241' }];
      const parts: ChartParts = { helm, crdsApplied: true, ...(method ? { stored: { apply_method: method } } : {}) };
      const edit = (bench: ReturnType<typeof chartBench>) => {
        bench.around.edit('Deployment', 'tigera-operator', [], editedOperator);
        return openedChart(bench);
      };
      assert.equal((await edit(chartBench(parts))).outcomes['NS-241'], 'error');
      const { outcomes, plan } = await edit(chartBench({ ...parts, options: { accept } }));
      assert.equal(outcomes['NS-241'], 'accepted');
      assert.equal(commandsOf(plan)[0]?.includes('--force-conflicts'), forced);
    });
  }
});

describe('what was removed in the cluster by hand and the chart would bring back', () => {
  const manifestOf = (env: string, more = '') => `---
apiVersion: apps/v1
kind: Deployment
metadata: { name: tigera-operator, namespace: tigera-operator }
spec: { template: { spec: { containers: [{ name: tigera-operator, image: "quay.io/tigera/operator:v1.32.12", env: ${env} }] } } }
${more}`;
  /** The same in the installed revision and in the new one; the live operator has no variable. */
  const unchanged = (manifest: string, parts: ChartParts = {}): ChartParts => ({
    ...{ crdsApplied: true, trial: { manifest } },
    ...parts,
    stored: { manifest, ...parts.stored },
  });
  const FIELD = 'spec.template.spec.containers[tigera-operator].env[KEEP].value';
  const OBJECT = 'Deployment/tigera-operator/tigera-operator';
  const KEEP = '[{ name: KEEP, value: "1" }]';
  const evidenceIn = async (parts: ChartParts) => {
    const told = (await openedChart(chartBench(parts))).findings.find(({ id }) => id === 'NS-241');
    return [told?.outcome, told?.exit, told?.evidence.map(({ text, detail }) => `${text}: ${detail}`)];
  };

  it('NS-241: is named, and shown in the plan as a change of the object', async () => {
    const parts = unchanged(manifestOf(KEEP));
    assert.deepEqual(await evidenceIn(parts), ['error', 'conflicts', [`${OBJECT} ${FIELD}: removed in the cluster`]]);
    const { plan } = await openedChart(chartBench(parts));
    assert.ok('actions' in plan);
    assert.deepEqual(
      plan.objects?.map(({ ref, change, fields, note }) => [ref.name, change, fields, note]),
      [['tigera-operator', 'update', [{ path: FIELD, after: '1' }], 'restarts 1 pod']],
    );
  });

  it('NS-241: once accepted comes back, and helm 4 need not force it', async () => {
    const accept = [{ check: 'NS-241' }];
    const parts = unchanged(manifestOf(KEEP), { helm: 'v4.3.1', stored: { apply_method: 'ssa' }, options: { accept } });
    const { outcomes, plan } = await openedChart(chartBench(parts));
    assert.equal(outcomes['NS-241'], 'accepted');
    assert.equal(commandsOf(plan)[0]?.includes('--force-conflicts'), false);
  });

  it('NS-241: has nothing to say of what only the new chart has, and of what says nothing', async () => {
    const parts = { crdsApplied: true, stored: { manifest: manifestOf('[]') }, trial: { manifest: manifestOf(KEEP) } };
    assert.equal((await evidenceIn(parts))[0], 'ok');
    // A server or an operator that writes an object anew leaves empty values out.
    assert.equal((await evidenceIn(unchanged(manifestOf('[{ name: KEEP, value: "" }]'))))[0], 'ok');
  });

  const account = '---\napiVersion: v1\nkind: ServiceAccount\nmetadata: { name: extra, namespace: tigera-operator }\n';

  it('NS-241: names an object that is gone, which the plan says is created', async () => {
    const parts = unchanged(manifestOf('[]', account));
    assert.deepEqual(await evidenceIn(parts), ['error', 'conflicts', ['ServiceAccount/tigera-operator/extra: removed in the cluster']]);
    const { plan } = await openedChart(chartBench(parts));
    assert.ok('actions' in plan);
    assert.deepEqual(
      plan.objects?.map(({ ref, change }) => `${change} ${ref.name}`),
      ['unchanged tigera-operator', 'create extra'],
    );
  });

  it('NS-241: knows of nothing removed where no revision was ever deployed', async () => {
    const parts = unchanged(manifestOf('[]', account), { stored: { info: { status: 'failed' } } });
    assert.equal((await evidenceIn(parts))[0], 'ok');
  });

  it('NS-241: shows in the plan what another manager has set as well, with who it was', async () => {
    const bench = chartBench(unchanged(manifestOf('[]')));
    const path = '/spec/template/spec/containers/0/image';
    bench.around.edit('Deployment', 'tigera-operator', [{ op: 'replace', path, value: 'mirror.corp/op:v1' }], editedOperator);
    const { plan } = await openedChart(bench);
    assert.ok('actions' in plan);
    const image = 'spec.template.spec.containers[tigera-operator].image';
    assert.deepEqual(
      plan.objects?.map(({ change, fields, taken }) => [change, fields, taken]),
      [
        [
          'update',
          [{ path: image, before: 'mirror.corp/op:v1', after: 'quay.io/tigera/operator:v1.32.12' }],
          [{ path: image, manager: 'kubectl-set' }],
        ],
      ],
    );
  });

  const installed = (spec: string) =>
    `---\napiVersion: operator.tigera.io/v1\nkind: Installation\nmetadata: { name: default }\nspec: ${spec}\n`;

  it('NS-241: leaves to a custom resource of a client-side release what the chart does not change, for helm patches only that', async () => {
    const same = unchanged(installed('{ registry: mirror.example.org/, nonPrivileged: Disabled }'));
    assert.equal((await evidenceIn(same))[0], 'ok');
    const changed = { ...same, trial: { manifest: installed('{ registry: other.example.org/, nonPrivileged: Disabled }') } };
    assert.deepEqual(await evidenceIn(changed), ['error', 'conflicts', ['Installation/default spec.registry: removed in the cluster']]);
    const onServer = { ...same, stored: { ...same.stored, apply_method: 'ssa' } };
    assert.deepEqual((await evidenceIn(onServer))[2], [
      'Installation/default spec.registry: removed in the cluster',
      'Installation/default spec.nonPrivileged: removed in the cluster',
    ]);
  });
});
