import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { verifyStage } from '../../src/features/verify/stage.ts';
import { type Api, unlessGone } from '../control-plane/api.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import { migratePolicies } from '../control-plane/policy-migration.ts';
import { POLICIES } from '../control-plane/service-objects.ts';
import { until } from '../control-plane/until.ts';
import { collectorStartsAnew } from '../support/collector-settles.ts';
import { GROUP, makeOwnedObjects } from '../support/owned-objects.ts';
import { FLAGS, type OwnerWork, performStage, restoreAnewWork, stripWork } from '../support/perform-stage.ts';
import { RealApiServer } from '../support/real-api-server.ts';
import { realProgram } from '../support/real-service.ts';
import { manifestFile } from '../support/releases.ts';
import { CALICO_TARGET } from '../support/target.ts';
import { assertSucceeded } from '../support/upgrade-process.ts';
import { ALL, makeV3Owned, OF_POLICIES, rightOwners, v3Owners } from '../support/v3-owned-objects.ts';

const TARGET = CALICO_TARGET;
/** Objects that die of the upgrade where nobody takes their references off; as `test/e2e/v3-owned-objects.test.ts` plays it. */
const SOURCES: readonly { readonly release: string; readonly installed: string; readonly dying: readonly string[] }[] = [
  { release: 'v3.26.4', installed: 'v3.26.5', dying: OF_POLICIES },
  { release: 'v3.30.7', installed: 'v3.30.7', dying: OF_POLICIES },
];

/** The program ends where the kinds that it stores are not served yet. */
async function install(plane: ControlPlane, release: string): Promise<void> {
  const apply = ['apply', '--server-side', '--force-conflicts', '-f', manifestFile(release, 'calico.yaml')];
  for (const args of [apply, ['wait', '--for=condition=Established', '--timeout=60s', 'crd', '--all']]) {
    assertSucceeded(await plane.kubectl(args));
  }
}

/** The agents of the target make it where it is not there. */
async function withDefaultTier(api: Api): Promise<void> {
  const tiers = `/apis/crd.${GROUP}/v1/tiers`;
  if ((await api.get(`${tiers}/default`).catch(unlessGone)) !== undefined) return;
  await api.send('POST', tiers, { apiVersion: `crd.${GROUP}/v1`, kind: 'Tier', metadata: { name: 'default' }, spec: { order: 1_000_000 } });
}

for (const { release, installed, dying } of SOURCES)
  describe(`objects of the v3 API with owners, beside the API servers of ${release} and ${TARGET}`, function () {
    this.timeout(600_000);
    const [old, target] = [realProgram('apiserver', release), realProgram('apiserver', TARGET)];
    if ('missing' in old || 'missing' in target) {
      it(`are judged as these show them: ${'missing' in old ? old.missing : 'missing' in target ? target.missing : ''}`);
      return;
    }
    let plane: ControlPlane;
    let server: RealApiServer | undefined;
    beforeEach(async () => {
      plane = await startControlPlane({ maxMinutes: 15 });
      await install(plane, installed);
      server = await RealApiServer.register(plane, GROUP);
      await server.serve(old.program);
      await makeOwnedObjects(plane.api, 0);
      await makeV3Owned(plane.api);
      await mkdir(join(plane.dir, 'home'), { recursive: true });
      await collectorStartsAnew(plane);
      assert.deepEqual(await v3Owners(plane.api), await rightOwners(plane.api));
    });
    afterEach(async () => {
      await server?.stop();
      await plane?.stop();
    });

    const around = () => ({ home: join(plane.dir, 'home'), kubeconfig: plane.kubeconfigPath, kubectl: plane.programs.kubectl });
    const perform = async (work: OwnerWork) => {
      const { exit, message, findings } = await work.perform(around());
      assert.equal(exit, 'done', `${message} ${JSON.stringify(findings)}`);
    };
    /** The definitions of the target, its API server, the new names of policies, and a collector that knows nothing of before. */
    const upgrade = async () => {
      await install(plane, TARGET);
      await withDefaultTier(plane.api);
      await server?.serve(target.program);
      // Just defined, a kind is served a while later.
      for (const plural of POLICIES)
        await until(`${plural} are served`, async () => Boolean(await plane.api.get(`/apis/crd.${GROUP}/v1/${plural}`)));
      await migratePolicies(plane.api, GROUP);
      await collectorStartsAnew(plane);
    };

    it(`die where nobody takes the references off: ${dying.length} of ${ALL.length}`, async () => {
      await upgrade();
      const living = async () => Object.keys(await v3Owners(plane.api));
      await until('they are gone', async () => !(await living()).some((name) => dying.includes(name)), 90_000);
      assert.deepEqual(
        await living(),
        ALL.filter((name) => !dying.includes(name)),
      );
    });

    it('live where they are removed, and have their owners back under the new UIDs', async () => {
      await perform(stripWork);
      const bare = await v3Owners(plane.api);
      for (const name of dying) assert.deepEqual([name, bare[name]], [name, []]);
      await upgrade();
      assert.deepEqual(Object.keys(await v3Owners(plane.api)), ALL);
      await perform(restoreAnewWork);
      assert.deepEqual(await v3Owners(plane.api), await rightOwners(plane.api));
      await collectorStartsAnew(plane);
      assert.deepEqual(await v3Owners(plane.api), await rightOwners(plane.api));
      const { findings } = await performStage(verifyStage, around(), FLAGS);
      assert.deepEqual(
        findings
          .filter(({ id, outcome }) => ['NS-306', 'NS-307', 'NS-753'].includes(id) && outcome !== 'ok')
          .map(({ id, message }) => [id, message]),
        [],
      );
    });
  });
