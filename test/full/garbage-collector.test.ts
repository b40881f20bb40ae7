import assert from 'node:assert/strict';
import type { OwnerReference } from '../../src/kernel/object.ts';
import type { AggregatedApi } from '../control-plane/aggregated-api.ts';
import { aggregate } from '../control-plane/aggregation.ts';
import type { Api } from '../control-plane/api.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import { type PolicyMigration, playPolicyMigration } from '../control-plane/policy-migration.ts';
import { NEW_SERVER } from '../control-plane/service-objects.ts';
import { until } from '../control-plane/until.ts';
import { collectorSettles, collectorStartsAnew } from '../support/collector-settles.ts';
import { GROUP, makeOwnedObjects, OWNED_LABEL, SPACE } from '../support/owned-objects.ts';
import { type OwnerGraph, readOwnerGraph } from '../support/owner-graph.ts';
import { manifestFile } from '../support/releases.ts';
import { CALICO_TARGET } from '../support/target.ts';

const COUNT = 40;
const AGENTS = 'calico-node';

const agents = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: AGENTS },
  spec: {
    selector: { matchLabels: { 'k8s-app': AGENTS } },
    template: {
      metadata: { labels: { 'k8s-app': AGENTS } },
      spec: { containers: [{ name: AGENTS, image: `example.test/node:${CALICO_TARGET}` }] },
    },
  },
};

const ofService = ({ apiVersion }: OwnerReference): boolean => apiVersion.split('/')[0]?.endsWith(GROUP) ?? false;
const ofPolicy = (reference: OwnerReference): boolean => ofService(reference) && reference.kind.endsWith('Policy');
const has = (name: string) => (references: readonly OwnerReference[]) => references.some((one) => one.name === name);
const keysOf = (graph: OwnerGraph, is: (references: readonly OwnerReference[]) => boolean): readonly string[] =>
  Object.entries(graph).flatMap(([key, references]) => (is(references) ? [key] : []));

const QUIET = 'owned-quiet';
const namesOf = (graph: OwnerGraph, name: string) =>
  Object.entries(graph)
    .filter(([key]) => key.includes(`/${name} `))
    .flatMap(([, references]) => references.map((one) => one.name));

/** One with another owner that stays, and none that goes: nothing makes the collector look at it but its own start. */
async function makeQuiet(api: Api): Promise<void> {
  const path = `/api/v1/namespaces/${SPACE}/configmaps`;
  const { ownerReferences = [] } = (await api.get<Owned>(`${path}/owned-00007`)).metadata;
  const kept = ownerReferences.filter(({ name }) => name === 'keeper' || name === 'owner-set');
  const metadata = { name: QUIET, labels: { [OWNED_LABEL]: 'yes' }, ownerReferences: kept };
  await api.send('POST', path, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
}
interface Owned {
  readonly metadata: { readonly ownerReferences?: readonly OwnerReference[] };
}

/** Why procedure G exists: if these fail, then every other test of owner references proves nothing. */
describe('dependents of the service whose references stay on, under a real garbage collector', function () {
  this.timeout(200_000);
  let plane: ControlPlane;
  let served: AggregatedApi;
  let migration: PolicyMigration | undefined;
  let first: OwnerGraph;

  before(async () => {
    plane = await startControlPlane({ maxMinutes: 8 });
    await plane.kubectl(['apply', '--server-side', '-f', manifestFile(CALICO_TARGET, 'crds.yaml')]);
    served = await aggregate(plane, GROUP);
    await plane.api.send('POST', '/apis/apps/v1/namespaces/kube-system/daemonsets', agents);
    await makeOwnedObjects(plane.api, COUNT);
    await makeQuiet(plane.api);
    // A collector that has just started knows every kind: from here on it would act on what it sees.
    await collectorStartsAnew(plane);
    first = await readOwnerGraph(plane.api);
  });
  after(async () => {
    await migration?.stop();
    await served?.stop();
    await plane?.stop();
  });

  const untilGone = (doomed: readonly string[]) =>
    until(
      'the collector has taken them',
      async () => {
        const now = await readOwnerGraph(plane.api);
        return doomed.every((key) => !(key in now));
      },
      60_000,
    );

  const untilNone = (what: string, is: (references: readonly OwnerReference[]) => boolean) =>
    until(`the collector has left no object ${what}`, async () => keysOf(await readOwnerGraph(plane.api), is).length === 0, 60_000);

  it('live as long as nothing changes, restart of kube-controller-manager included', () => {
    assert.equal(Object.keys(first).length, COUNT + 1);
  });

  it('die of the policy-name migration within seconds, references to stored policies included; others do not', async () => {
    const doomed = keysOf(first, (references) => references.every(ofPolicy));
    assert.ok(doomed.length >= COUNT / 5);
    migration = playPolicyMigration(plane.api, { group: GROUP, agents: AGENTS });
    await untilGone(doomed);
    assert.deepEqual(
      Object.keys(await readOwnerGraph(plane.api)),
      keysOf(first, (references) => !references.every(ofPolicy)),
    );
    assert.deepEqual(migration.migrated.toSorted(), ['/default.owner-policy', 'shop/default.owner-rules']);
    // Those with other owners live on, and wait in the collector's queue: what it takes from there after the change of UIDs dies of it.
    await untilNone('with a reference to a policy', (references) => references.some(ofPolicy));
    await collectorSettles(plane.api);
  });

  it('outlive the change of UIDs itself', async () => {
    const alive = Object.keys(await readOwnerGraph(plane.api));
    served.serve(NEW_SERVER);
    await collectorSettles(plane.api);
    assert.deepEqual(Object.keys(await readOwnerGraph(plane.api)), alive, 'the change of UIDs itself takes nothing');
  });

  it('do not wait for a restart where the collector has another reason to look: another owner of theirs goes', async () => {
    const looked = keysOf(await readOwnerGraph(plane.api), (references) => has('other')(references) && references.some(ofService));
    assert.ok(looked.length >= COUNT / 10);
    await plane.api.send('DELETE', `/api/v1/namespaces/${SPACE}/configmaps/other`);
    await untilNone('with a reference to the owner that is gone', has('other'));
    const now = await readOwnerGraph(plane.api);
    assert.deepEqual(
      looked.map((key) => now[key]?.map(({ name }) => name)),
      looked.map(() => ['keeper']),
    );
  });

  it('die at the next restart of kube-controller-manager', async () => {
    const present = await readOwnerGraph(plane.api);
    const doomed = keysOf(present, (references) => references.every(ofService));
    assert.deepEqual(namesOf(present, QUIET), ['keeper', 'owner-set'], 'nothing has made the collector look at it');
    assert.ok(doomed.length >= COUNT / 5);
    await plane.restartControllerManager();
    await untilGone(doomed);
  });

  it('lose their reference without a word if they have another owner', async () => {
    const present = await readOwnerGraph(plane.api);
    const mixed = keysOf(first, (references) => !references.every(ofService));
    assert.deepEqual(Object.keys(present), mixed);
    await untilNone('with a reference to the service', (references) => references.some(ofService));
    assert.deepEqual(namesOf(await readOwnerGraph(plane.api), QUIET), ['keeper']);
  });
});
