import assert from 'node:assert/strict';
import { ownerrefsRestoreStage } from '../../src/features/chain.ts';
import { rollbackLabelsStage, rollbackNamesStage } from '../../src/features/going-back/index.ts';
import { ownerrefsStripStage } from '../../src/features/ownerrefs/strip-stage.ts';
import type { AnyStage } from '../../src/kernel/stage.ts';
import type { ApiList } from '../control-plane/api.ts';
import { migratePolicies } from '../control-plane/policy-migration.ts';
import { NEW_SERVER, OLD_SERVER } from '../control-plane/service-objects.ts';
import { until } from '../control-plane/until.ts';
import { collectorStartsAnew } from '../support/collector-settles.ts';
import { shared } from '../support/installed-cluster.ts';
import { ownedPlane } from '../support/owned-cluster.ts';
import { GROUP } from '../support/owned-objects.ts';
import { assertDone } from '../support/owner-faults.ts';
import { graphAfter, readOwnerNames } from '../support/owner-graph.ts';
import { FLAGS, performStage, restoreAnewWork, stripWork } from '../support/perform-stage.ts';
import { manifestFile } from '../support/releases.ts';
import { CALICO_TARGET } from '../support/target.ts';

const OLD = 'v3.26.5';

describe('policies that are stored under their former names again, under a real garbage collector', function () {
  this.timeout(280_000);
  const owned = shared(() => ownedPlane(20, { maxMinutes: 10 }));

  const back = (stage: AnyStage) => performStage(stage, owned.around, { ...FLAGS, release: OLD }, undefined, { kind: 'rollback' });
  const stored = async () =>
    (await owned.plane.api.get<ApiList>(`/apis/crd.${GROUP}/v1/globalnetworkpolicies`)).items.map(({ metadata }) => metadata.name);
  const served = () => until('v3 is served again', async () => (await owned.plane.api.get(`/apis/${GROUP}/v3/ippools`)) !== undefined);
  const forgetRun = async () => {
    const secrets = '/api/v1/namespaces/kube-system/secrets';
    await owned.plane.api.send('DELETE', `${secrets}/netsvc-upgrade-run`).catch(() => undefined);
  };

  it('take nothing with them that they own, and every reference is as before the upgrade', async () => {
    const { plane } = owned;
    const before = await readOwnerNames(plane.api, OLD_SERVER);
    assertDone(await stripWork.perform(owned.around), 'strip');
    await plane.kubectl(['apply', '--server-side', '--force-conflicts', '-f', manifestFile(CALICO_TARGET, 'crds.yaml')]);
    owned.served.serve(NEW_SERVER);
    // A CRD that was just changed asks to come back.
    await until('policies have their new names', () =>
      migratePolicies(plane.api, GROUP).then(
        () => true,
        () => false,
      ),
    );
    await served();
    assertDone(await restoreAnewWork.perform(owned.around), 'restore');
    assert.ok((await stored()).every((name) => !name.startsWith('default.')));
    await collectorStartsAnew(plane);
    await forgetRun();

    for (const stage of [ownerrefsStripStage, rollbackLabelsStage, rollbackNamesStage]) assertDone(await back(stage), stage.id);
    assert.ok(
      (await stored()).every((name) => name.startsWith('default.')),
      (await stored()).join(),
    );
    owned.served.serve(OLD_SERVER);
    await served();
    assertDone(await back(ownerrefsRestoreStage), 'restore, back');
    const wanted = graphAfter(owned.first, before, await readOwnerNames(plane.api, OLD_SERVER));
    assert.deepEqual(await owned.graph(), wanted);
    await collectorStartsAnew(plane);
    assert.deepEqual(await owned.graph(), wanted, 'the garbage collector takes nothing');
  });
});
