import assert from 'node:assert/strict';
import type { Options } from '../../../src/core/context.ts';
import type { KubeObject } from '../../../src/core/object.ts';
import { backupStage } from '../../../src/stages/backup.ts';
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
      'obsolete ConfigMap/mine It is no longer in the cluster, and is not made again; --resolve with mine does.',
    ]);
    assert.equal(await dataAfter(around), undefined);
  });

  it('is made again where the person says so', async () => {
    const around = await bench([], { resolutions: { 'ConfigMap/mine': 'mine' } });
    assert.deepEqual(await dataAfter(around), OF_THEN);
  });

  it('is left alone where the server no longer knows its kind', async () => {
    const old = { ...added({}, 'PodSecurityPolicy'), apiVersion: 'policy/v1beta1' };
    const around = await bench([], {}, old);
    assert.match((await told(around)).join(), /^obsolete PodSecurityPolicy\/mine .* left as it is\.$/);
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
