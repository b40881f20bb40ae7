import assert from 'node:assert/strict';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { oneLook } from '../../src/kernel/one-look.ts';
import { ApiFailure, type ClusterReader } from '../../src/kernel/ports.ts';

describe('one look at the cluster', () => {
  let asked: string[];
  let refuse: boolean;
  let items: number;

  /** Notes every request; answers with the number of requests so far as the name. */
  function watched(): ClusterReader {
    const note = <T>(text: string, answer: T): Promise<T> => {
      asked.push(text);
      return refuse ? Promise.reject(new ApiFailure(503, 'Unavailable', 'busy')) : Promise.resolve(answer);
    };
    const object = (name: string) => ({ apiVersion: 'v1', kind: 'X', metadata: { name, uid: `${asked.length}` } });
    return {
      version: () => note('version', { gitVersion: 'v1.36.1', major: '1', minor: '36' }),
      clockSkewMs: () => note('skew', 0),
      discover: () => note('discover', { kinds: [], failed: [] }),
      resolve: (apiVersion, kind) => note(`resolve ${apiVersion} ${kind}`, undefined),
      get: (kind, name, namespace) => note(`get ${kind.plural} ${namespace}/${name}`, object(name)),
      list: (kind, options) =>
        note(
          `list ${kind.plural} ${JSON.stringify(options ?? {})}`,
          Array.from({ length: items }, () => object('x')),
        ),
      watch: () => assert.fail('nothing is watched'),
      dryRunApply: (_kind, document) => note('dry run', document),
      dryRunPatch: (_kind, ref) => note('dry run', object(ref.name)),
      dryRunCreate: (_kind, document) => note('dry run', document),
      reviewAccess: (requests) =>
        note(
          'access',
          requests.map(() => true),
        ),
      raw: (path) => note(path, ''),
    };
  }

  let look: ClusterReader;
  beforeEach(() => {
    asked = [];
    refuse = false;
    items = 1;
    look = oneLook(watched());
  });

  it('asks the same thing once, also while the answer is on its way', async () => {
    const [first, second] = await Promise.all([look.get(K.Node, 'a'), look.get(K.Node, 'a')]);
    assert.equal(first, second);
    await Promise.all([look.list(K.Pod, { namespace: 'a', metadataOnly: true }), look.list(K.Pod, { metadataOnly: true, namespace: 'a' })]);
    await look.discover();
    await look.discover();
    assert.deepEqual(asked, ['get nodes undefined/a', 'list pods {"namespace":"a","metadataOnly":true}', 'discover']);
  });

  it('asks for the kinds anew where somebody wants that, and remembers the new answer', async () => {
    const [first, second] = [await look.discover(), await look.discover('anew')];
    const third = await look.discover();
    assert.deepEqual([asked, first === second, second === third], [['discover', 'discover'], false, true]);
  });

  it('tells apart lists of which other parts are kept', async () => {
    const [names, labels] = [(object: KubeObject) => object, (object: KubeObject) => ({ ...object })];
    for (const keep of [names, labels, names]) await look.list(K.Pod, { keep });
    await look.list(K.Pod);
    assert.equal(asked.length, 3);
  });

  it('tells apart what is not the same', async () => {
    await look.get(K.ConfigMap, 'a', 'one');
    await look.get(K.ConfigMap, 'a', 'two');
    await look.get(K.Secret, 'a', 'one');
    await look.list(K.Pod);
    await look.list(K.Pod, { metadataOnly: true });
    await look.list(K.Pod, { labelSelector: 'a' });
    await look.reviewAccess([{ verb: 'get', group: '', resource: 'pods' }]);
    await look.reviewAccess([{ verb: 'list', group: '', resource: 'pods' }]);
    assert.equal(asked.length, 8);
  });

  it('asks again after a failure', async () => {
    refuse = true;
    await assert.rejects(look.list(K.Node), ApiFailure);
    await assert.rejects(look.discover(), ApiFailure);
    refuse = false;
    assert.equal((await look.list(K.Node)).length, 1);
    await look.discover();
    assert.equal(asked.length, 4);
  });

  describe('at an object and at dry runs on it', () => {
    const document = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'n' } };
    const ref = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: 'n' };
    const patch = [{ op: 'remove', path: '/data' }] as const;
    /** Versions of the object, one for each answer; the last stands. */
    let versions: string[];

    beforeEach(() => {
      const answer = (text: string) => {
        asked.push(text);
        const resourceVersion = versions.length > 1 ? versions.shift() : versions[0];
        return Promise.resolve({ ...document, metadata: { ...document.metadata, ...(resourceVersion ? { resourceVersion } : {}) } });
      };
      look = oneLook({
        ...watched(),
        get: (_kind, name) => answer(`get ${name}`),
        dryRunApply: () => answer('dry run'),
        dryRunPatch: () => answer('dry patch'),
      });
    });

    const asks = async () => {
      await look.get(K.ConfigMap, 'a', 'n');
      await look.dryRunApply(K.ConfigMap, document, 'kubectl');
      await look.dryRunPatch(K.ConfigMap, ref, patch, 'kubectl');
    };

    it('asks once as long as all of it is of one state', async () => {
      versions = ['7'];
      await asks();
      await asks();
      assert.deepEqual(asked, ['get a', 'dry run', 'dry patch']);
      await look.dryRunApply(K.ConfigMap, { ...document, metadata: { ...document.metadata, labels: { b: 'c' } } }, 'kubectl');
      await look.dryRunApply(K.ConfigMap, document, 'another');
      assert.deepEqual(asked.slice(3), ['dry run', 'dry run'], 'another document and another manager are other questions');
    });

    it('asks again after a change in between', async () => {
      versions = ['7', '8'];
      await look.get(K.ConfigMap, 'a', 'n');
      await look.dryRunApply(K.ConfigMap, document, 'kubectl');
      await asks();
      assert.deepEqual(asked, ['get a', 'dry run', 'get a', 'dry run', 'dry patch']);
    });

    it('takes the answer of an earlier look where the object is as it was then, and nowhere else', async () => {
      const known = new Map<string, KubeObject>();
      const earlier = { find: (key: string) => known.get(key), keep: (key: string, answer: KubeObject) => void known.set(key, answer) };
      const state = (resourceVersion: string) => ({ ...document, metadata: { ...document.metadata, resourceVersion } });
      const lookAt = async (version: string) => {
        const at = oneLook<ClusterReader>(
          {
            ...watched(),
            get: async () => state(version),
            dryRunApply: async () => {
              asked.push(`dry run at ${version}`);
              return state(version);
            },
          },
          earlier,
        );
        await at.get(K.ConfigMap, 'a', 'n');
        return at.dryRunApply(K.ConfigMap, document, 'kubectl');
      };
      for (const version of ['7', '7', '8', '8', '7']) assert.equal((await lookAt(version)).metadata.resourceVersion, version);
      assert.deepEqual(asked, ['dry run at 7', 'dry run at 8', 'dry run at 7']);
    });

    it('asks again after a refusal', async () => {
      let refusals = 1;
      const refusing = oneLook<ClusterReader>({
        ...watched(),
        dryRunApply: () => (refusals-- > 0 ? Promise.reject(new ApiFailure(422, 'Invalid', 'no')) : Promise.resolve(document)),
      });
      await assert.rejects(refusing.dryRunApply(K.ConfigMap, document, 'kubectl'), ApiFailure);
      assert.equal(await refusing.dryRunApply(K.ConfigMap, document, 'kubectl'), document);
    });
  });

  it('never repeats the answer to a dry run on an object that nobody read, the clock or a raw path from memory', async () => {
    const document = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
    for (let turn = 0; turn < 2; turn += 1) {
      await look.dryRunApply(K.ConfigMap, document, 'kubectl');
      await look.clockSkewMs();
      await look.raw('/metrics');
    }
    assert.equal(asked.length, 6);
  });

  it('asks once how the server would make an object, and again for another', async () => {
    const document = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'twin', namespace: 'n' } };
    await Promise.all([look.dryRunCreate(K.ConfigMap, document), look.dryRunCreate(K.ConfigMap, document)]);
    await look.dryRunCreate(K.ConfigMap, { ...document, data: { a: '1' } });
    await look.dryRunCreate(K.Secret, document);
    assert.equal(asked.length, 3);
  });

  it('asks once for what the server does not know', async () => {
    let lists = 0;
    const without = oneLook<ClusterReader>({
      ...watched(),
      list: () => {
        lists += 1;
        return Promise.reject(new ApiFailure(404, 'NotFound', 'the server could not find the requested resource'));
      },
    });
    for (let turn = 0; turn < 2; turn += 1) await assert.rejects(without.list(K.Node), /could not find/);
    assert.equal(lists, 1);
  });

  it('does not hold lists of a large cluster', async () => {
    items = 2001;
    await look.list(K.Pod);
    await look.list(K.Pod);
    assert.equal(asked.length, 2);
  });

  it('leaves a list that may be stopped to the one who stops it', async () => {
    const { signal } = new AbortController();
    await look.list(K.Pod, { signal });
    await look.list(K.Pod, { signal });
    assert.equal(asked.length, 2);
  });
});
