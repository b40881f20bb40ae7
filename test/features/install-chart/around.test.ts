import assert from 'node:assert/strict';
import { backupStage } from '../../../src/features/backup/stage.ts';
import { crdsStage, waitStage } from '../../../src/features/install/around.ts';
import type { StagePlan } from '../../../src/kernel/stage.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { appliedClientSide } from '../../support/applying-cluster.ts';
import { deployment } from '../../support/calico-objects.ts';
import { type ChartParts, chartBench, storedIn } from '../../support/chart-bench.ts';
import { objectOf } from '../../support/inventory.ts';
import { ORDER, TYPHA, unheld } from '../../support/operated-bench.ts';
import { CALICO_TARGET } from '../../support/target.ts';

async function planOf(one: typeof waitStage, parts: ChartParts = {}): Promise<Exclude<StagePlan, { skip: string }> | string> {
  const { sources, context } = chartBench(parts);
  const plan = (await one.open(sources, context)).plan();
  return 'skip' in plan ? plan.skip : plan;
}

const TARGET = { chart: { metadata: { name: 'tigera-operator', version: CALICO_TARGET } } };
const IMAGE = 'mirror.example.org/tigera/operator:v1.42.3';
const UPGRADED = `---
apiVersion: apps/v1
kind: Deployment
metadata: { name: tigera-operator }
spec: { template: { spec: { containers: [{ name: tigera-operator, image: ${IMAGE} }] } } }
`;

describe('crds on the chart path', () => {
  it('applies the CRDs of the target, and says what has to come at once', async () => {
    const plan = await planOf(crdsStage);
    assert.ok(typeof plan !== 'string');
    assert.deepEqual(
      plan.actions.map(({ id }) => id),
      ['crds-file', 'crds', 'crds-established'],
    );
    assert.ok(plan.notes?.some((note) => String(note).startsWith('run apply at once')));
  });

  it('takes over those that were applied client-side first, and has nothing to do after that', async () => {
    const spec = { group: 'operator.tigera.io', names: { kind: 'Goldmane', plural: 'goldmanes' }, scope: 'Cluster' };
    const crd = objectOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'goldmanes.operator.tigera.io', { spec });
    const bench = chartBench({ objects: [appliedClientSide(crd)] });
    const plan = (await crdsStage.open(bench.sources, bench.context)).plan();
    assert.ok('actions' in plan);
    assert.deepEqual(
      plan.actions.map(({ id }) => id),
      ['crds-file', 'crds-ownership', 'crds', 'crds-established'],
    );
    for (const action of plan.actions) bench.around.perform(action);
    assert.ok('skip' in (await crdsStage.open(bench.sources, bench.context)).plan());
  });

  it('has nothing to do once they are there', async () => {
    assert.equal(
      await planOf(crdsStage, { crdsApplied: true }),
      `the CRDs equal https://files.example/${CALICO_TARGET}/manifests/v1_crd_projectcalico_org.yaml`,
    );
  });

  it('leaves them to the operator when told so', async () => {
    assert.match(String(await planOf(crdsStage, { options: { manageCrds: true } })), /the new operator applies the CRDs itself/);
  });

  it('leaves them to the operator where the installed one would put its own back', async () => {
    const args = [{ op: 'add', path: '/spec/template/spec/containers/0/args', value: ['-manage-crds=true'] }] as const;
    const bench = chartBench();
    bench.around.edit('Deployment', 'tigera-operator', args);
    const plan = (await crdsStage.open(bench.sources, bench.context)).plan();
    assert.deepEqual(plan, { skip: 'the operator installs the CRDs of its own release, and would put others back' });
  });

  it('renders them from the chart that a person names', async () => {
    const bench = chartBench({ options: { crdChart: 'crd.projectcalico.org.v1', chartRepository: 'https://charts.example.org' } });
    await crdsStage.open(bench.sources, bench.context);
    assert.deepEqual(bench.asked, [
      `helm template crds crd.projectcalico.org.v1 --repo https://charts.example.org --version ${CALICO_TARGET}`,
    ]);
  });

  const RENDERS = 'helm template crds';
  const defaults: readonly (readonly [string, ChartParts['options'], string | undefined, readonly string[]])[] = [
    [
      'the profile’s repository',
      {},
      calico.manifestUrl,
      [`${RENDERS} crd.projectcalico.org.v1 --repo https://docs.tigera.io/calico/charts --version ${CALICO_TARGET}`],
    ],
    [
      'the repository that is named',
      { chartRepository: 'https://charts.example.org' },
      calico.manifestUrl,
      [`${RENDERS} crd.projectcalico.org.v1 --repo https://charts.example.org --version ${CALICO_TARGET}`],
    ],
    [
      'a repository of helm’s own list',
      { chart: 'mine/tigera-operator' },
      calico.manifestUrl,
      [`${RENDERS} mine/crd.projectcalico.org.v1 --version ${CALICO_TARGET}`],
    ],
    ['no repository, but a file', { chart: './tigera-operator.tgz' }, calico.manifestUrl, []],
    [
      'a repository, while the files of the release are named as well',
      { chartRepository: 'https://charts.example.org' },
      'https://mirror.example',
      [],
    ],
  ];
  for (const [from, options = {}, source, asked] of defaults)
    it(`takes the CRDs from the chart of the profile or the release’s file, where the operator’s chart comes from ${from}`, async () => {
      const bench = chartBench({ options });
      const sources = { ...bench.sources, artifacts: { ...bench.sources.artifacts, source: source ?? '' } };
      await crdsStage.open(sources, bench.context);
      assert.deepEqual(bench.asked, asked);
    });

  it('says which chart could not be rendered, and what to name instead', async () => {
    const bench = chartBench({ rendered: '' });
    const tools = {
      ...bench.sources.tools,
      run: async () => ({ exitCode: 1, stdout: '', stderr: 'Error: chart not found in repository', durationMs: 1 }),
    };
    const sources = { ...bench.sources, tools, artifacts: { ...bench.sources.artifacts, source: calico.manifestUrl ?? '' } };
    await assert.rejects(crdsStage.open(sources, bench.context), (thrown: Error & { readonly suggestions?: readonly string[] }) => {
      assert.match(
        thrown.message,
        /^the CRDs cannot be rendered from crd\.projectcalico\.org\.v1 of https:\S+: Error: chart not found in repository$/,
      );
      assert.match(thrown.suggestions?.join('\n') ?? '', /--manifest-url, or another chart with --crd-chart$/);
      return true;
    });
  });
});

describe('the order of agents and Typha, before the CRDs of a chart upgrade are written', () => {
  const typha = deployment('calico-typha', 'quay.io/calico/typha:v3.27.5', { namespace: 'calico-system' });
  const [check, subject] = [ORDER, TYPHA];
  const judged = async (parts: ChartParts = {}) => {
    const { sources, context } = chartBench({ objects: [typha], profile: unheld, ...parts });
    const findings = (await crdsStage.open(sources, context)).findings();
    return findings.find(({ id }) => id === check)?.outcome;
  };

  it('NS-251: is to be taken on by name here: between the CRDs and the operator there may be no pause', async () => {
    assert.equal(await judged(), 'error');
    assert.equal(await judged({ options: { accept: [{ check, subject }] } }), 'accepted');
  });

  it('NS-251: is left to apply where this stage writes nothing', async () => {
    assert.equal(await judged({ crdsApplied: true }), 'not-applicable');
    assert.equal(await judged({ options: { manageCrds: true } }), 'not-applicable');
  });
});

describe('backup on the chart path', () => {
  it('takes what the release holds, and the release itself as a Secret, whose value stays out', async () => {
    const plan = await planOf(backupStage);
    assert.ok(typeof plan !== 'string');
    const { effect } = plan.actions[0] ?? {};
    assert.ok(effect?.type === 'backup');
    assert.deepEqual(
      effect.files.map(({ name }) => name).filter((name) => /objects|secrets/.test(name)),
      ['objects/Deployment_tigera-operator_tigera-operator.yaml'],
    );
    assert.match(effect.files.find(({ name }) => name === 'RESTORE.md')?.content ?? '', /Secrets were left out \(1 seen\)/);
  });

  it('after a failed revision takes what the deployed one holds too: helm deletes from that', async () => {
    const stored = { version: 4, info: { status: 'failed' }, manifest: '' };
    const plan = await planOf(backupStage, { objects: storedIn({ stored }) });
    const effect = typeof plan === 'string' ? undefined : plan.actions[0]?.effect;
    assert.ok(effect?.type === 'backup');
    assert.ok(effect.files.some(({ name }) => name === 'objects/Deployment_tigera-operator_tigera-operator.yaml'));
    assert.match(effect.files.find(({ name }) => name === 'RESTORE.md')?.content ?? '', /Secrets were left out \(2 seen\)/);
  });
});

describe('wait on the chart path', () => {
  const wantedBy = async (parts: ChartParts) => {
    const plan = await planOf(waitStage, parts);
    const effect = typeof plan === 'string' ? undefined : plan.actions[0]?.effect;
    assert.ok(effect?.type === 'wait' && effect.until.type === 'operator-end');
    return effect.until.target.operatorImage;
  };

  it('expects the operator that the upgraded release has, with the registry of its values', async () => {
    assert.equal(await wantedBy({ stored: { ...TARGET, manifest: UPGRADED } }), IMAGE);
  });

  it('never takes an unknown operator for the new one', async () => {
    assert.equal(await wantedBy({ stored: { ...TARGET, manifest: '' } }), 'an image that cannot be told');
  });
});
