import assert from 'node:assert/strict';
import { K } from '../../src/kernel/kinds.ts';
import { type KubeObject, refOf } from '../../src/kernel/object.ts';
import { ApiFailure } from '../../src/kernel/ports.ts';
import { adoptedOwnership, clientSideManagers, predictApply } from '../../src/kube/managed-fields.ts';
import { podSpecOf, recordsIn } from '../../src/manifest/prepare.ts';
import { configMap, freshName, parkedDaemonSet, patch, read as readIn, type SpecCluster } from './spec-cluster.ts';

export function describeApply(open: () => SpecCluster): void {
  const read = (object: KubeObject) => readIn(open(), object);
  const apply = async (...documents: readonly KubeObject[]) => {
    const result = await open().serverSideApply(documents);
    assert.deepEqual([result.exitCode, result.stderr], [0, '']);
  };
  /** Another manager sets a key of a ConfigMap. */
  const set = (name: string, key: string, value: string) => patch(open(), configMap(name, {}), { op: 'add', path: `/data/${key}`, value });

  describe('server-side apply', () => {
    it('removes what its manager no longer says, and keeps what others added', async () => {
      const name = freshName('prune');
      await apply(configMap(name, { a: '1', b: '2' }));
      await set(name, 'c', 'theirs');
      await apply(configMap(name, { a: '3' }));
      assert.deepEqual((await read(configMap(name, {}))).data, { a: '3', c: 'theirs' });
    });

    it('takes a field that another manager changed, by force', async () => {
      const name = freshName('force');
      await apply(configMap(name, { a: '1' }));
      await set(name, 'a', 'theirs');
      await apply(configMap(name, { a: '1' }));
      const live = await read(configMap(name, {}));
      assert.deepEqual(live.data, { a: '1' });
      assert.deepEqual(managersOf(live), ['kubectl Apply']);
    });

    it('keeps a field that two managers own, when one of them drops it', async () => {
      const name = freshName('shared');
      await apply(configMap(name, { a: '1', b: '1' }));
      await set(name, 'b', '2');
      await apply(configMap(name, { a: '1' }));
      assert.deepEqual((await read(configMap(name, {}))).data, { a: '1', b: '2' });
    });

    it('removes nothing from an object that was only created', async () => {
      const name = freshName('created');
      await open().cluster.create(K.ConfigMap, configMap(name, { a: '1', b: '2' }));
      await apply(configMap(name, { a: '3' }));
      assert.deepEqual((await read(configMap(name, {}))).data, { a: '3', b: '2' });
    });

    it('claims a field without a value, and leaves what others put there', async () => {
      const name = freshName('valueless');
      await open().cluster.create(K.ConfigMap, configMap(name, { a: '1' }));
      await apply({ ...configMap(name, {}), data: null } as unknown as KubeObject);
      assert.deepEqual((await read(configMap(name, {}))).data, { a: '1' });
    });

    it('writes nothing the second time', async () => {
      const document = configMap(freshName('twice'), { a: '1' });
      await apply(document);
      const first = await read(document);
      await apply(document);
      assert.equal((await read(document)).metadata.resourceVersion, first.metadata.resourceVersion);
    });

    it('goes on after a document that is refused, and says so', async () => {
      const [good, bad] = [configMap(freshName('good'), { a: '1' }), parkedDaemonSet(freshName('bad'), [])];
      await apply(bad);
      const spec = bad.spec as { readonly template: { readonly metadata: object } };
      const labels = { app: 'other' };
      const broken = { ...bad, spec: { ...spec, selector: { matchLabels: labels }, template: { ...spec.template, metadata: { labels } } } };
      const result = await open().serverSideApply([broken, good]);
      assert.equal(result.exitCode, 1);
      assert.match(result.stderr, /field is immutable/);
      assert.match(result.stdout, new RegExp(`^configmap/${good.metadata.name} serverside-applied$`, 'm'));
      assert.deepEqual((await read(good)).data, { a: '1' });
    });

    it('stores nothing as a dry run', async () => {
      const document = configMap(freshName('dry-apply'), { a: '1' });
      const { exitCode, stdout } = await open().serverSideApply([document], { dryRun: true });
      assert.deepEqual([exitCode, stdout], [0, `configmap/${document.metadata.name} serverside-applied (server dry run)\n`]);
      assert.equal(await open().cluster.get(K.ConfigMap, document.metadata.name, 'default'), undefined);
    });
  });

  describe('server-side apply of what was installed client-side', () => {
    it('removes what the new document drops, as predicted, and keeps what others added', async () => {
      const name = freshName('migrate');
      await open().installClientSide(configMap(name, { a: '1', b: '2' }));
      await set(name, 'c', 'theirs');
      const document = configMap(name, { a: '3' });
      const shown = await open().cluster.dryRunApply(K.ConfigMap, document, 'kubectl');
      assert.deepEqual(shown.data, { a: '3', b: '2', c: 'theirs' });
      const predicted = predictApply(shown, document);
      await apply(document);
      const live = await read(document);
      assert.deepEqual(
        [live.data, predicted.object.data],
        [
          { a: '3', c: 'theirs' },
          { a: '3', c: 'theirs' },
        ],
      );
      assert.deepEqual(clientSideManagers(live.metadata.managedFields), []);
    });

    it('merges lists by their keys', async () => {
      const name = freshName('lists');
      await open().installClientSide(parkedDaemonSet(name, env({ A: '1', B: '1' })));
      const document = parkedDaemonSet(name, env({ A: '1' }));
      const path = '/spec/template/spec/containers/0/env/-';
      await patch(open(), document, { op: 'add', path, value: { name: 'C', value: '1' } });
      await apply(document);
      assert.deepEqual(envOf(await read(document)), ['A', 'C']);
    });

    it('rolls twice where it drops a field; once if ownership was handed over before', async () => {
      const generations: (number | undefined)[] = [];
      for (const handOver of [false, true]) {
        const name = freshName('hand-over');
        await open().installClientSide(parkedDaemonSet(name, env({ A: '1', B: '1' })));
        const document = parkedDaemonSet(name, env({ A: '2' }));
        if (handOver) await takeOver(open(), () => read(document));
        await apply(document);
        const live = await read(document);
        assert.deepEqual(envOf(live), ['A']);
        generations.push(live.metadata.generation);
      }
      assert.deepEqual(generations, [3, 2]);
    });
  });
}

/** As the apply stage does: managedFields and nothing else; planned anew if a controller wrote the status in between. */
async function takeOver({ cluster }: SpecCluster, read: () => Promise<KubeObject>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const live = await read();
    const ops = [
      { op: 'replace', path: '/metadata/managedFields', value: adoptedOwnership(live) },
      { op: 'replace', path: '/metadata/resourceVersion', value: live.metadata.resourceVersion },
    ] as const;
    try {
      await cluster.patch(K.DaemonSet, refOf(live), ops, 'kubectl');
      return;
    } catch (thrown) {
      if (!(thrown instanceof ApiFailure) || thrown.status !== 409 || attempt === 5) throw thrown;
    }
  }
}

const env = (values: Readonly<Record<string, string>>) => Object.entries(values).map(([name, value]) => ({ name, value }));

function managersOf({ metadata }: KubeObject): readonly string[] {
  return (metadata.managedFields ?? []).map(({ manager, operation }) => `${manager} ${operation}`);
}

function envOf(object: KubeObject): readonly unknown[] {
  return recordsIn(recordsIn(podSpecOf(object)?.containers)[0]?.env).map(({ name }) => name);
}
