import assert from 'node:assert/strict';
import { journalStore } from '../../src/adapters/journal/journal.ts';
import { type OpenCluster, openCluster } from '../../src/adapters/kube/cluster.ts';
import { readConnection } from '../../src/adapters/kubeconfig/kubeconfig.ts';
import { entryOf, type LiveReferences } from '../../src/features/ownerrefs/journal-entries.ts';
import { ownerEntries } from '../../src/features/ownerrefs/journal-form.ts';
import { restorePatch, stripPatch } from '../../src/features/ownerrefs/owner-patches.ts';
import type { JournalEntry } from '../../src/kernel/journal.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { JsonPatchOp, KubeObject, OwnerReference } from '../../src/kernel/object.ts';
import { ApiFailure } from '../../src/kernel/ports.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import { journalIn } from '../support/state.ts';

const GROUP = 'projectcalico.org';
const SPACE = 'default';

const set = (name: string, more: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: `${GROUP}/v3`,
  kind: 'NetworkSet',
  name,
  uid: `uid-of-${name}`,
  ...more,
});

const dependent = (name: string, references: readonly OwnerReference[]): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: SPACE, ownerReferences: references },
});

function liveOf({ metadata }: Pick<KubeObject, 'metadata'>): LiveReferences {
  return { uid: metadata.uid ?? '', references: metadata.ownerReferences ?? [] };
}

function entryOfLive(object: KubeObject): JournalEntry {
  const { name, uid = '', ownerReferences = [] } = object.metadata;
  const places = ownerReferences.flatMap((one, place) => (one.apiVersion.startsWith(`${GROUP}/`) ? [place] : []));
  const known = new Map(places.map((place) => [place, { namespace: SPACE, name: ownerReferences[place]?.name ?? '' }]));
  return entryOf({ apiVersion: 'v1', kind: 'ConfigMap', namespace: SPACE, name, uid, plural: 'configmaps' }, ownerReferences, known);
}

describe('owner references on a real control plane', function () {
  this.timeout(60_000);
  let plane: ControlPlane;
  let cluster: OpenCluster;
  let keeper: OwnerReference;

  before(async function () {
    this.timeout(600_000);
    plane = await startControlPlane();
    cluster = openCluster(await readConnection({ kubeconfig: plane.kubeconfigPath }, process.env), { version: 'test', pageSize: 2 });
    const made = await cluster.create(K.ConfigMap, dependent('keeper', []));
    keeper = { apiVersion: 'v1', kind: 'ConfigMap', name: 'keeper', uid: made.metadata.uid ?? '' };
  });
  after(async () => {
    await cluster?.close();
    await plane?.stop();
  });

  /** The garbage collector does not know the group here, so that what is tried is the API server alone. */
  const create = (name: string, ...references: readonly OwnerReference[]) => cluster.create(K.ConfigMap, dependent(name, references));
  const patch = (name: string, ops: readonly JsonPatchOp[]) =>
    cluster.patch(K.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', namespace: SPACE, name }, ops, 'test');

  it('finds in protobuf what a whole list in JSON holds', async () => {
    for (const name of ['listed-a', 'listed-b', 'listed-c'])
      await create(name, set('s', { controller: true, blockOwnerDeletion: false }), keeper);
    await create('listed-d', keeper);
    const found = await cluster.list(K.ConfigMap, { ownedBy: [GROUP] });
    const all = await cluster.list(K.ConfigMap);
    const fields = ({ metadata: { name, namespace, uid, resourceVersion, ownerReferences } }: KubeObject) =>
      [name, namespace, uid, resourceVersion, ownerReferences] as const;
    assert.deepEqual(found.map(fields), all.filter(({ metadata }) => metadata.name.match(/^listed-[abc]$/)).map(fields));
  });

  const lists: readonly [string, readonly OwnerReference[]][] = [
    ['only', [set('a', { controller: true, blockOwnerDeletion: true })]],
    ['several', [set('a'), set('b', { controller: true }), set('c')]],
  ];
  for (const [title, references] of lists)
    it(`come off and back with patches that the server takes: ${title} of the service`, async () => {
      const made = await create(`patched-${title}`, ...references);
      const entry = entryOfLive(made);
      const bare = await patch(made.metadata.name, stripPatch(entry, liveOf(made)).ops);
      assert.equal(bare.metadata.ownerReferences, undefined);
      const back = await patch(made.metadata.name, restorePatch(entry, liveOf(bare), ({ name }) => ({ uid: `new-${name}` })).ops);
      assert.deepEqual(
        back.metadata.ownerReferences,
        references.map((one) => ({ ...one, uid: `new-${one.name}` })),
      );
    });

  it('come back to an object that is written all the time, and not beside a reference that appeared meanwhile', async () => {
    const made = await create('busy', set('a'));
    const entry = entryOfLive(made);
    const bare = await patch('busy', stripPatch(entry, liveOf(made)).ops);
    const { ops } = restorePatch(entry, liveOf(bare), ({ name }) => ({ uid: `new-${name}` }));
    const { metadata } = await patch('busy', [{ op: 'add', path: '/metadata/annotations', value: { beat: '2' } }]);
    assert.notEqual(metadata.resourceVersion, bare.metadata.resourceVersion);
    assert.equal((await patch('busy', ops)).metadata.ownerReferences?.[0]?.uid, 'new-a');
    await assert.rejects(patch('busy', ops), (thrown: unknown) => thrown instanceof ApiFailure && thrown.status === 422);
  });

  it('come back between those of others, and not over a change that nobody had seen', async () => {
    const made = await create('mixed', set('a'), keeper, set('b'));
    const entry = entryOfLive(made);
    const bare = await patch('mixed', stripPatch(entry, liveOf(made)).ops);
    const { ops } = restorePatch(entry, liveOf(bare), ({ name }) => ({ uid: `new-${name}` }));
    await patch('mixed', [{ op: 'remove', path: '/metadata/ownerReferences' }]);
    await assert.rejects(patch('mixed', ops), (thrown: unknown) => thrown instanceof ApiFailure && thrown.status === 422);
    await patch('mixed', [{ op: 'add', path: '/metadata/ownerReferences', value: [keeper] }]);
    const back = await patch('mixed', ops);
    assert.deepEqual(
      back.metadata.ownerReferences?.map(({ uid }) => uid),
      ['new-a', keeper.uid, 'new-b'],
    );
  });

  it('are journalled in Secrets that the server itself keeps from being edited', async () => {
    const place = journalIn(cluster);
    const store = journalStore({
      place,
      form: async () => ownerEntries,
      clusterUid: await cluster.clusterUid(),
      profile: 'calico',
      runId: '20261121T080000Z-e2e',
    });
    const entry = entryOfLive(await create('journalled', set('a'), keeper));
    await store.append([entry]);
    await store.append([entryOfLive(await create('journalled-too', set('b')))]);
    assert.equal((await store.load())?.entries.length, 2);
    const chunk = (await place.names()).at(-1) ?? '';
    const edit = cluster.patch(
      K.Secret,
      { apiVersion: 'v1', kind: 'Secret', namespace: 'kube-system', name: chunk },
      [{ op: 'replace', path: '/data/entries.jsonl.gz', value: '' }],
      'test',
    );
    await assert.rejects(edit, /immutable/);
    await store.forget();
    assert.deepEqual(await place.names(), []);
  });
});
