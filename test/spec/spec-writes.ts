import assert from 'node:assert/strict';
import { K } from '../../src/kernel/kinds.ts';
import { type JsonPatchOp, type KubeObject, refOf } from '../../src/kernel/object.ts';
import type { ApiFailure, WatchUpdate } from '../../src/kernel/ports.ts';
import { configMap, freshName, parkedDaemonSet, patch, type SpecCluster, statusOf } from './spec-cluster.ts';

export function describeWrites(open: () => SpecCluster): void {
  const make = (name: string) => open().cluster.create(K.ConfigMap, configMap(freshName(name), { a: '1' }));

  describe('writes', () => {
    it('give a new object its identity', async () => {
      const { uid, resourceVersion, creationTimestamp, generation } = (await make('born')).metadata;
      assert.match(`${uid}`, /^[0-9a-f-]{36}$/);
      assert.match(`${resourceVersion}`, /^\d+$/);
      assert.match(`${creationTimestamp}`, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      assert.equal(generation, undefined);
    });

    const OTHER = { uid: '00000000-0000-0000-0000-000000000000' };
    const withIdentity = (live: KubeObject, other: Partial<KubeObject['metadata']>) => ({
      ...live,
      metadata: { ...live.metadata, ...other },
    });
    const patched = (op: JsonPatchOp) => (live: KubeObject) => patch(open(), live, op);
    const refusals: readonly [string, number, (live: KubeObject) => Promise<unknown>][] = [
      ['an object of the same name', 409, (live) => open().cluster.create(K.ConfigMap, configMap(live.metadata.name, {}))],
      [
        'a replace with an old resourceVersion',
        409,
        async (live) => {
          await open().cluster.replace(K.ConfigMap, { ...live, data: { a: '2' } });
          await open().cluster.replace(K.ConfigMap, { ...live, data: { a: '3' } });
        },
      ],
      ['a patch with an old resourceVersion', 409, patched({ op: 'replace', path: '/metadata/resourceVersion', value: '1' })],
      ['a patch whose test fails', 422, patched({ op: 'test', path: '/data/a', value: 'other' })],
      ['a patch that expects nothing where something is', 422, patched({ op: 'test', path: '/data', value: null })],
      ['a patch of a path that is not there', 422, patched({ op: 'remove', path: '/data/none' })],
      ['a patch of another instance of that name', 422, (live) => patch(open(), withIdentity(live, OTHER))],
      ['a replace of another instance of that name', 409, (live) => open().cluster.replace(K.ConfigMap, withIdentity(live, OTHER))],
      [
        'a patch of what does not exist',
        404,
        (live) => patch(open(), withIdentity(live, { name: 'nobody', uid: undefined }), { op: 'add', path: '/data', value: {} }),
      ],
      [
        'an object in a namespace that does not exist',
        404,
        () => open().cluster.create(K.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'nowhere' } }),
      ],
      [
        'a list of a kind that is not served',
        404,
        () => open().cluster.list({ group: 'nothing.example', version: 'v1', kind: 'Nothing', plural: 'nothings', namespaced: true }),
      ],
    ];
    for (const [what, status, request] of refusals) {
      it(`are refused with ${status}: ${what}`, async () => {
        assert.equal(await statusOf(request(await make('refused'))), status);
      });
    }

    it('may expect nothing where nothing is: null stands for it', async () => {
      const live = await make('nothing');
      const path = '/metadata/ownerReferences';
      const owner = { apiVersion: 'example.org/v1', kind: 'Thing', name: 'a', uid: 'uid-of-a' };
      const ops = [
        { op: 'test', path, value: null },
        { op: 'add', path, value: [] },
        { op: 'add', path: `${path}/0`, value: owner },
      ] as const;
      const send = () => patch(open(), live, ...ops);
      assert.deepEqual((await send()).metadata.ownerReferences, [owner]);
      assert.equal(await statusOf(send()), 422);
    });

    it('are refused with 403 where pods want more of their node than their namespace may, as a dry run too', async () => {
      const { cluster } = open();
      const namespace = freshName('restricted');
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'a', namespace },
        spec: { hostNetwork: true, containers: [{ name: 'a', image: 'a' }] },
      };
      const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
      const made = await cluster.create(K.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } });
      await assert.rejects(
        cluster.dryRunCreate(K.Pod, pod),
        ({ status, message }: ApiFailure) =>
          status === 403 &&
          /^pods "a" is forbidden: violates PodSecurity "restricted:latest": host namespaces \(hostNetwork=true\)/.test(message),
      );
      await patch(open(), made, { op: 'remove', path: '/metadata/labels' });
      assert.ok(await cluster.dryRunCreate(K.Pod, pod));
    });

    it('are not stored if they are dry runs', async () => {
      const live = await make('dry');
      const { cluster } = open();
      const shown = await cluster.dryRunPatch(K.ConfigMap, refOf(live), [{ op: 'replace', path: '/data/a', value: '2' }], 'spec');
      const applied = await cluster.dryRunApply(K.ConfigMap, configMap(live.metadata.name, { b: '1' }), 'spec');
      const fresh = configMap(freshName('dry'), { a: '1' });
      const made = [await cluster.dryRunCreate(K.ConfigMap, fresh), await cluster.dryRunApply(K.ConfigMap, fresh, 'spec')];
      assert.deepEqual(
        [shown.data, applied.data, made.map(({ data }) => data)],
        [{ a: '2' }, { a: '1', b: '1' }, [{ a: '1' }, { a: '1' }]],
      );
      assert.equal(applied.metadata.resourceVersion, live.metadata.resourceVersion);
      assert.deepEqual(await cluster.get(K.ConfigMap, live.metadata.name, 'default'), live);
      assert.equal(await cluster.get(K.ConfigMap, fresh.metadata.name, 'default'), undefined);
    });

    it('that change nothing leave the resourceVersion alone', async () => {
      const live = await make('same');
      const again = await patch(open(), live, { op: 'replace', path: '/data/a', value: '1' });
      assert.equal(again.metadata.resourceVersion, live.metadata.resourceVersion);
    });

    it('count a generation only for more than metadata', async () => {
      const live = await open().cluster.create(K.DaemonSet, parkedDaemonSet(freshName('generation'), []));
      const labelled = await patch(open(), live, { op: 'add', path: '/metadata/labels', value: { a: 'b' } });
      const image = '/spec/template/spec/containers/0/image';
      const changed = await patch(open(), live, { op: 'replace', path: image, value: 'registry.netsvc.io/x:v2' });
      assert.deepEqual(
        [live, labelled, changed].map(({ metadata }) => metadata.generation),
        [1, 1, 2],
      );
    });
  });

  it('a watch tells what is there, then every change, and ends with its signal', async () => {
    const { cluster } = open();
    const labels = { watched: freshName('watch') };
    const { metadata, ...map } = configMap(labels.watched, { a: '1' });
    const made = await cluster.create(K.ConfigMap, { ...map, metadata: { ...metadata, labels } });
    const end = new AbortController();
    const steps: readonly (() => Promise<unknown>)[] = [
      () => patch(open(), made, { op: 'replace', path: '/data/a', value: '2' }),
      () => cluster.remove(K.ConfigMap, refOf(made)),
      async () => end.abort(),
    ];
    const told: string[] = [];
    let step = 0;
    const options = { namespace: 'default', labelSelector: `watched=${labels.watched}`, signal: end.signal };
    for await (const update of cluster.watch(K.ConfigMap, options)) {
      told.push(textOf(update));
      await steps[step++]?.();
    }
    assert.deepEqual(told, ['snapshot 1', 'changed 2', 'deleted 2']);
  });
}

function textOf(update: WatchUpdate): string {
  const objects = update.type === 'snapshot' ? update.items : [update.object];
  return `${update.type} ${objects.map(({ data }) => (data as { readonly a: string }).a).join()}`;
}
