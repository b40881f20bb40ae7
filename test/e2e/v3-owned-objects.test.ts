import assert from 'node:assert/strict';
import { migratePolicies } from '../control-plane/policy-migration.ts';
import { BETWEEN_SERVER, LATER_SERVER, NEW_SERVER, OLD_SERVER, type ServerRule } from '../control-plane/service-objects.ts';
import { until } from '../control-plane/until.ts';
import { collectorStartsAnew } from '../support/collector-settles.ts';
import { type OwnedPlane, ownedPlane } from '../support/owned-cluster.ts';
import { GROUP } from '../support/owned-objects.ts';
import { type OwnerWork, restoreAnewWork, stripWork } from '../support/perform-stage.ts';
import { ALL, makeV3Owned, OF_POLICIES, rightOwners, v3Owners } from '../support/v3-owned-objects.ts';

/**
 * The API server is played by what the service's sources say of each release (`ConvertCalicoResourceToK8sResource` and its inverse); the
 * collector is real.
 */
const SOURCES: readonly { readonly release: string; readonly rule: ServerRule; readonly dying: readonly string[] }[] = [
  { release: 'v3.26', rule: OLD_SERVER, dying: OF_POLICIES },
  { release: 'v3.27.5', rule: BETWEEN_SERVER, dying: ALL },
  { release: 'v3.30', rule: LATER_SERVER, dying: OF_POLICIES },
];

const none = () => Object.fromEntries(ALL.map((name) => [name, []]));

for (const { release, rule, dying } of SOURCES)
  describe(`objects of the v3 API with owners, made by an API server of ${release}`, function () {
    this.timeout(280_000);
    let owned: OwnedPlane;
    beforeEach(async () => {
      owned = await ownedPlane(0, { maxMinutes: 10 });
      owned.served.serve(rule);
      await makeV3Owned(owned.plane.api);
    });
    afterEach(() => owned?.stop());

    const perform = async (work: OwnerWork) => {
      const { exit, message, findings } = await work.perform(owned.around);
      assert.equal(exit, 'done', `${message} ${JSON.stringify(findings)}`);
    };
    /** What an upgrade does to UIDs and names. */
    const upgrade = async () => {
      owned.served.serve(NEW_SERVER);
      await migratePolicies(owned.plane.api, GROUP);
      await collectorStartsAnew(owned.plane);
    };

    it(`die of the upgrade where nobody takes the references off: ${dying.length} of ${ALL.length}`, async () => {
      const { api } = owned.plane;
      assert.deepEqual(await v3Owners(api), await rightOwners(api));
      await upgrade();
      const living = async () => Object.keys(await v3Owners(api));
      await until('they are gone', async () => !(await living()).some((name) => dying.includes(name)), 60_000);
      assert.deepEqual(
        await living(),
        ALL.filter((name) => !dying.includes(name)),
      );
    });

    it('live where they are removed through that API, and have their owners back under the new UIDs', async () => {
      const { api } = owned.plane;
      await perform(stripWork);
      const bare = await v3Owners(api);
      for (const name of dying) assert.deepEqual([name, bare[name]], [name, none()[name]]);
      await upgrade();
      assert.deepEqual(Object.keys(await v3Owners(api)), ALL);
      await perform(restoreAnewWork);
      assert.deepEqual(await v3Owners(api), await rightOwners(api));
      await collectorStartsAnew(owned.plane);
      assert.deepEqual(await v3Owners(api), await rightOwners(api));
    });
  });
