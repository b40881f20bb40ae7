import assert from 'node:assert/strict';
import { ownerrefsRestoreStage } from '../../src/features/chain.ts';
import { ownerrefsStripStage } from '../../src/features/ownerrefs/strip-stage.ts';
import type { OwnerReference } from '../../src/kernel/object.ts';
import type { AnyStage } from '../../src/kernel/stage.ts';
import { aggregate } from '../control-plane/aggregation.ts';
import { startControlPlane } from '../control-plane/control-plane.ts';
import { migratePolicies } from '../control-plane/policy-migration.ts';
import type { ServerRule } from '../control-plane/service-objects.ts';
import { until } from '../control-plane/until.ts';
import { collectorStartsAnew } from './collector-settles.ts';
import { folderFor, opened } from './installed-cluster.ts';
import { GROUP, makeOwnedObjects } from './owned-objects.ts';
import { graphAfter, graphWithout, readOwnerGraph, readOwnerNames } from './owner-graph.ts';
import { FLAGS, performStage } from './perform-stage.ts';
import { manifestFile } from './releases.ts';
import { CALICO_TARGET } from './target.ts';
import { assertSucceeded } from './upgrade-process.ts';
import { ALL, makeV3Owned, rightOwners, v3Owners } from './v3-owned-objects.ts';

/** A way from one release to another, and what it does to dependents whose references nobody removes. */
export interface OwnerWay {
  readonly title: string;
  /** What is installed: release and file. */
  readonly installed: readonly [release: string, file: string];
  readonly release?: string;
  /** How the API server answers while dependents are made, when the program comes, and after the upgrade. */
  readonly servers: readonly [made: ServerRule, found: ServerRule, after: ServerRule];
  /** What becomes of policies that are stored under other names. */
  readonly policies: 'renamed' | 'held' | 'canal' | 'as they are';
  /** References that garbage collection takes for dead afterwards. */
  readonly dead: Is;
  /** References that are removed, and those of them that stay off. */
  readonly removed: Is;
  readonly staysOff?: Is;
  /** Of objects that were made through the v3 API, those that die; none are made unless said. */
  readonly notedDying?: readonly string[];
}
type Is = (reference: OwnerReference) => boolean;

const groupIs =
  (group: string) =>
  ({ apiVersion }: OwnerReference) =>
    apiVersion.startsWith(`${group}/`);
export const ofV3: Is = groupIs(GROUP);
const ofStored: Is = groupIs(`crd.${GROUP}`);
export const ofPolicy: Is = (one) => (ofV3(one) || ofStored(one)) && one.kind.endsWith('Policy');
export const ofV3Policy: Is = (one) => ofV3(one) && ofPolicy(one);
export const ofV3OrPolicy: Is = (one) => ofV3(one) || ofPolicy(one);
export const ofNone: Is = () => false;

const DEPENDENTS = 20;
const SETTINGS = { apiVersion: `crd.${GROUP}/v1`, kind: 'KubeControllersConfiguration', metadata: { name: 'default' } };
const HELD = { ...SETTINGS, spec: { controllers: { policyMigration: { enabled: 'Disabled' } } } };

/** A control plane on which nothing but the service's definitions, its API server and what it owns is there. */
function ownedWay({ installed: [release, file], servers: [made, found], notedDying }: OwnerWay) {
  return opened(async (endBy) => {
    const plane = await startControlPlane({ maxMinutes: 10 });
    endBy(plane.stop);
    const { api } = plane;
    // A key-value release defines nothing of its own.
    for (const manifest of [manifestFile('v3.26.5', 'crds.yaml'), manifestFile(release, file)])
      assertSucceeded(await plane.kubectl(['apply', '--server-side', '--force-conflicts', '-f', manifest]));
    const served = await aggregate(plane, GROUP);
    endBy(() => served.stop());
    served.serve(made);
    await makeOwnedObjects(api, DEPENDENTS);
    if (notedDying) await makeV3Owned(api);
    await collectorStartsAnew(plane);
    const [first, owners] = [await readOwnerGraph(api), await readOwnerNames(api, made)];
    served.serve(found);
    const around = { home: await folderFor(endBy), kubeconfig: plane.kubeconfigPath, kubectl: plane.programs.kubectl };
    return { plane, served, first, owners, around };
  });
}

/** Without removal the dependents die; with it they live, restarts of kube-controller-manager included, and have their references back. */
export function describeOwnerWay(way: OwnerWay): void {
  const { servers, policies, dead, removed, staysOff = ofNone, notedDying, release = FLAGS.release } = way;
  const [, , after] = servers;
  describe(`dependents on the way ${way.title}, under a real garbage collector`, function () {
    this.timeout(280_000);
    let owned: Awaited<ReturnType<typeof ownedWay>>;
    beforeEach(async () => {
      owned = await ownedWay(way);
    });
    afterEach(() => owned?.stop());

    const upgrade = async () => {
      const { plane, served } = owned;
      served.serve(after);
      if (policies === 'renamed') await migratePolicies(plane.api, GROUP);
      if (policies === 'held') {
        const crds = manifestFile(CALICO_TARGET, 'crds.yaml');
        assertSucceeded(await plane.kubectl(['apply', '--server-side', '--force-conflicts', '-f', crds]));
        await plane.api.send('POST', `/apis/crd.${GROUP}/v1/kubecontrollersconfigurations`, HELD);
      }
      await collectorStartsAnew(plane);
    };
    const perform = async (stage: AnyStage) => {
      const { exit, message, findings } = await performStage(stage, owned.around, { ...FLAGS, release, timeout: '30s' });
      assert.equal(exit, 'done', `${message} ${JSON.stringify(findings.filter(({ outcome }) => outcome !== 'ok'))}`);
    };
    const graph = () => readOwnerGraph(owned.plane.api);

    const whereTheyDie = async () => {
      const { plane, first } = owned;
      const doomed = Object.keys(first).filter((key) => (first[key] ?? []).every(dead));
      assert.ok(doomed.length > 0);
      await upgrade();
      let present = await graph();
      await until(
        'they are gone',
        async () => {
          present = await graph();
          return !doomed.some((key) => key in present);
        },
        90_000,
      );
      assert.deepEqual(
        Object.keys(present),
        Object.keys(first).filter((key) => !doomed.includes(key)),
      );
      if (!notedDying) return;
      const living = async () => Object.keys(await v3Owners(plane.api));
      await until('noted ones are gone', async () => !(await living()).some((name) => notedDying.includes(name)), 60_000);
      assert.deepEqual(
        await living(),
        ALL.filter((name) => !notedDying.includes(name)),
      );
    };
    if (dead !== ofNone) it('die where nobody removes their references', whereTheyDie);

    it('live where these are removed, and have them back', async () => {
      const { plane, first, owners } = owned;
      const { api } = plane;
      await perform(ownerrefsStripStage);
      assert.deepEqual(await graph(), graphWithout(first, removed));
      if (notedDying) for (const name of notedDying) assert.deepEqual([name, (await v3Owners(api))[name]], [name, []]);
      await upgrade();
      assert.deepEqual(Object.keys(await graph()), Object.keys(first));
      await perform(ownerrefsRestoreStage);
      const wanted = graphWithout(graphAfter(first, owners, await readOwnerNames(api, after)), staysOff);
      for (const when of ['put back', 'after a restart']) {
        if (when !== 'put back') await collectorStartsAnew(plane);
        assert.deepEqual(await graph(), wanted, when);
        if (notedDying) assert.deepEqual(await v3Owners(api), await rightOwners(api), when);
      }
    });
  });
}
