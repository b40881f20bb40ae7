import assert from 'node:assert/strict';
import { ownerrefsForgetStage } from '../../src/features/chain.ts';
import { verifyStage } from '../../src/features/verify/stage.ts';
import type { ApiList, ApiObject } from '../control-plane/api.ts';
import { shared } from '../support/installed-cluster.ts';
import { ownedPlane } from '../support/owned-cluster.ts';
import { FLAGS, performStage, restoreWork, stripWork } from '../support/perform-stage.ts';

const SECRETS = '/api/v1/namespaces/kube-system/secrets';
const DEPENDENTS = 10;

describe('a journal of owner references that somebody deleted, whole or in part', function () {
  this.timeout(280_000);
  const owned = shared(() => ownedPlane(DEPENDENTS, { maxMinutes: 10 }));
  const parts = async () => {
    const { items } = await owned.plane.api.get<ApiList>(SECRETS);
    return items.filter(({ metadata: { name } }) => name.startsWith('netsvc-upgrade-owners'));
  };
  const remove = async (gone: readonly ApiObject[]) => {
    for (const { metadata } of gone) await owned.plane.api.send('DELETE', `${SECRETS}/${metadata.name}`);
  };
  const bringBack = async (gone: readonly ApiObject[]) => {
    for (const { metadata, ...secret } of gone) {
      const { name, namespace, labels } = metadata;
      await owned.plane.api.send('POST', SECRETS, { ...secret, metadata: { name, namespace, labels } });
    }
  };

  it('stops what works from it with exit 7, with what is missing and how to bring it back', async () => {
    assert.equal((await stripWork.perform(owned.around)).exit, 'done');
    const bare = await owned.graph();
    const all = await parts();
    await remove(all);
    for (const work of [restoreWork, stripWork, { perform: () => performStage(ownerrefsForgetStage, owned.around, FLAGS) }]) {
      const { exit, findings } = await work.perform(owned.around);
      const found = findings.find(({ id }) => id === 'NS-753');
      assert.deepEqual([exit, found?.outcome], ['stale', 'error'], JSON.stringify(findings));
      assert.match(found?.message ?? '', new RegExp(`${DEPENDENTS} objects`));
      assert.match(found?.hint ?? '', /owner-references-\*\.json/);
    }
    const { findings } = await performStage(verifyStage, owned.around, FLAGS);
    assert.equal(findings.find(({ id }) => id === 'NS-753')?.outcome, 'error');
    assert.deepEqual(await owned.graph(), bare);
    await bringBack(all);
  });

  it('stops it where one part is missing, too', async () => {
    const [chunk] = (await parts()).filter(({ metadata: { name } }) => name !== 'netsvc-upgrade-owners');
    assert.ok(chunk);
    await remove([chunk]);
    const { exit, message, steps } = await restoreWork.perform(owned.around);
    assert.equal(exit, 'stale');
    assert.match([message, ...steps].join('\n'), new RegExp(`${chunk.metadata.name}: it is gone[\\s\\S]*manual recovery`));
    await bringBack([chunk]);
  });

  it('stops it where an older state of it was put in its place', async () => {
    const before = await parts();
    const path = '/api/v1/namespaces/shop/configmaps';
    const [set] = (await owned.plane.api.get<ApiList>('/apis/projectcalico.org/v3/globalnetworksets')).items;
    const reference = { apiVersion: 'projectcalico.org/v3', kind: 'GlobalNetworkSet', name: set?.metadata.name, uid: set?.metadata.uid };
    const metadata = { name: 'later', ownerReferences: [reference] };
    await owned.plane.api.send('POST', path, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
    assert.equal((await stripWork.perform(owned.around)).exit, 'done');
    const now = await parts();
    await remove(now);
    await bringBack(before);
    const { exit, findings } = await restoreWork.perform(owned.around);
    assert.deepEqual([exit, findings.find(({ id }) => id === 'NS-753')?.outcome], ['stale', 'error']);
    await remove(before);
    await bringBack(now);
  });

  it('goes on once it is back, and gives everything back', async () => {
    assert.equal((await restoreWork.perform(owned.around)).exit, 'done');
    assert.deepEqual(await owned.graph(), owned.first);
  });

  it('is given up by name where nobody can bring it back', async () => {
    await remove(await parts());
    const accepted = await performStage(ownerrefsForgetStage, owned.around, { ...FLAGS, forget: true, accept: ['NS-753'] });
    assert.equal(accepted.exit, 'done', JSON.stringify(accepted.findings));
    const { findings } = await restoreWork.perform(owned.around);
    assert.equal(findings.find(({ id }) => id === 'NS-753')?.outcome, 'ok');
  });
});
