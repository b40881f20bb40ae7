import assert from 'node:assert/strict';
import { backupStage } from '../../../src/features/backup/stage.ts';
import type { Options } from '../../../src/kernel/context.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { readCarriedEdits } from '../../../src/manifest/carried-file.ts';
import { type ApplyBench, applyBench, installedClientSide, openApply, ownDocuments, upgrade } from '../../support/apply-bench.ts';
import { appliedClientSide, ownedBy } from '../../support/applying-cluster.ts';

/** An object that only the person's file has; `namespace` left out is the default one. */
const added = (data: Readonly<Record<string, string>>, kind = 'ConfigMap'): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'mine' },
  data,
});
const OF_THEN = { address: '10.0.0.1', kept: 'yes' };

/** The file of the installation of then, and the cluster of now. */
async function bench(live: readonly KubeObject[], of: Partial<Options> = {}, object = added(OF_THEN)): Promise<ApplyBench> {
  const made = applyBench([...(await installedClientSide('v3.26.4')), ...live], { options: { installedManifest: 'mine.yaml', ...of } });
  const documents = [...(await ownDocuments('v3.26.4')), object];
  made.files.set('mine.yaml', documents.map((one) => JSON.stringify(one)).join('\n---\n'));
  return made;
}

async function told(around: ApplyBench): Promise<readonly string[]> {
  const plan = (await openApply(around)).plan();
  const edits = 'skip' in plan ? [] : (plan.edits ?? []);
  return edits.map(({ outcome, ref, note = '' }) => `${outcome} ${ref.kind}/${ref.name} ${note}`.trim());
}

async function dataAfter(around: ApplyBench): Promise<unknown> {
  await upgrade(around);
  return around.around.object('ConfigMap', 'mine')?.data;
}

const NOW = { address: '10.0.0.9', kept: 'yes', more: '1' };

describe('an object that only --installed-manifest has', () => {
  for (const [how, live] of [
    ['edited', { ...appliedClientSide(added(OF_THEN)), data: NOW }],
    ['applied again from a later file', appliedClientSide(added(NOW))],
    ['made by other means', ownedBy('kubectl-create', added(NOW))],
  ] as const) {
    it(`keeps the values of the cluster where it was ${how} since`, async () => {
      const around = await bench([live]);
      assert.deepEqual(await told(around), ['kept ConfigMap/mine With what was changed in the cluster since.']);
      assert.deepEqual(await dataAfter(around), NOW);
    });
  }

  it('stays without what was taken out of it in the cluster', async () => {
    const around = await bench([appliedClientSide(added({ kept: 'yes' }))]);
    assert.deepEqual(await dataAfter(around), { kept: 'yes' });
  });

  it('is in the target as it is where nothing changed', async () => {
    const around = await bench([appliedClientSide(added(OF_THEN))]);
    assert.deepEqual(await told(around), ['kept ConfigMap/mine']);
    assert.deepEqual(await dataAfter(around), OF_THEN);
  });

  it('is not made again where it was deleted since, and is reported', async () => {
    const around = await bench([]);
    assert.deepEqual(await told(around), [
      'obsolete ConfigMap/mine It is no longer in the cluster, and is not created again, unless you resolve it with mine.',
    ]);
    assert.equal(await dataAfter(around), undefined);
  });

  it('offers no decision for a Secret that was deleted since: none is ever made', async () => {
    const around = await bench([], {}, added({}, 'Secret'));
    assert.deepEqual(await told(around), [
      'obsolete Secret/mine It is no longer in the cluster. No Secret is written to a file: create it yourself if it is to be there.',
    ]);
  });

  it('is made again where the person says so', async () => {
    const around = await bench([], { resolutions: { 'ConfigMap/mine': 'mine' } });
    assert.deepEqual(await dataAfter(around), OF_THEN);
  });

  it('is left alone where the server no longer knows its kind', async () => {
    const old = { ...added({}, 'PodSecurityPolicy'), apiVersion: 'policy/v1beta1' };
    const around = await bench([], {}, old);
    assert.match((await told(around)).join(), /^obsolete PodSecurityPolicy\/mine .* is not changed\.$/);
    assert.equal((await openApply(around)).findings().find(({ id }) => id === 'NS-202')?.outcome, 'ok');
  });

  it('is in the backup, as it is in the cluster', async () => {
    const around = await bench([appliedClientSide(added(NOW))]);
    const plan = (await backupStage.open(around.sources, around.context)).plan();
    const effect = 'skip' in plan ? undefined : plan.actions[0]?.effect;
    const file = effect?.type === 'backup' ? effect.files.find(({ name }) => name === 'objects/ConfigMap_mine.yaml') : undefined;
    assert.match(`${file?.content}`, /address: "?10\.0\.0\.9/);
  });
});

describe('a list of a custom object that only --installed-manifest has', () => {
  const definition: KubeObject = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'racks.example.org' },
    spec: { group: 'example.org', scope: 'Cluster', names: { kind: 'Rack', plural: 'racks' }, versions: [] },
  };
  const rack = (...slots: readonly object[]): KubeObject => ({
    apiVersion: 'example.org/v1',
    kind: 'Rack',
    metadata: { name: 'mine' },
    spec: { slots },
  });
  const keyed = { type: 'array', items: {}, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['row'] };
  const schema = {
    'x-kubernetes-group-version-kind': [{ group: 'example.org', version: 'v1', kind: 'Rack' }],
    properties: { spec: { properties: { slots: keyed } } },
  };

  /** The server sets the side of a slot; since it was applied, one slot got another load. */
  async function slotsCarried(answer: () => Promise<string>): Promise<{ readonly slots: unknown; readonly asked: readonly string[] }> {
    const file = rack({ row: 1, load: 'then' }, { row: 2, load: 'then' });
    const live = rack({ row: 1, load: 'now', side: 'left' }, { row: 2, load: 'then', side: 'left' });
    const around = await bench([definition, { ...appliedClientSide(file), spec: live.spec }], {}, file);
    const asked: string[] = [];
    const { dryRunCreate } = around.sources.cluster;
    Object.assign(around.sources.cluster, {
      raw: (path: string) => {
        asked.push(path);
        return answer();
      },
      dryRunCreate: async (...args: Parameters<typeof dryRunCreate>) => {
        const [, document] = args;
        const { slots = [] } = (document.spec ?? {}) as { readonly slots?: readonly object[] };
        return document.kind === 'Rack'
          ? { ...document, ...rack(...slots.map((slot) => ({ ...slot, side: 'left' }))) }
          : dryRunCreate(...args);
      },
    });
    const plan = (await openApply(around)).plan();
    const carried = readCarriedEdits('skip' in plan ? undefined : plan.keep?.content);
    const changed = carried?.files['upgrade.yaml']?.changed.find(({ kind }) => kind === 'Rack');
    const slots = (changed?.spec as { readonly slots: unknown } | undefined)?.slots;
    return { slots, asked: asked.filter((path) => path.includes('example.org')) };
  }

  it('is merged by the keys that the server tells: its defaults do not become the person’s', async () => {
    const { slots, asked } = await slotsCarried(async () => JSON.stringify({ components: { schemas: { schema } } }));
    assert.deepEqual(asked, ['/openapi/v3/apis/example.org/v1']);
    assert.deepEqual(slots, [
      { row: 1, load: 'now' },
      { row: 2, load: 'then' },
    ]);
  });

  it('is one value where the server tells none', async () => {
    const { slots } = await slotsCarried(async () => '{}');
    assert.deepEqual(slots, [
      { row: 1, load: 'now', side: 'left' },
      { row: 2, load: 'then', side: 'left' },
    ]);
  });
});
