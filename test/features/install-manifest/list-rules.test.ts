import assert from 'node:assert/strict';
import { readListRules } from '../../../src/features/install-manifest/list-rules.ts';
import { ApiFailure } from '../../../src/kernel/ports.ts';
import { config, env } from '../../support/merge-cases.ts';

const SCHEMA = {
  components: {
    schemas: {
      agents: {
        'x-kubernetes-group-version-kind': [{ group: 'apps', version: 'v1', kind: 'DaemonSet' }],
        properties: {
          spec: { properties: { parts: { items: {}, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['id'] } } },
        },
      },
    },
  },
};

/** Who asks for what, and what the server says. */
function asked(answer: () => Promise<string>) {
  const paths: string[] = [];
  const raw = (path: string) => {
    paths.push(path);
    return answer();
  };
  return { paths, cluster: { raw } };
}

const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports: [] } };

describe('the server’s rules for lists', () => {
  it('are asked for once for each group and version, and only for objects that have lists', async () => {
    const { paths, cluster } = asked(async () => JSON.stringify(SCHEMA));
    const other = { ...env({ A: '1' }), metadata: { name: 'other' } };
    const rules = await readListRules(cluster, [env({ A: '1' }), other, config({ a: '1' }), service]);
    assert.deepEqual(paths, ['/openapi/v3/apis/apps/v1', '/openapi/v3/api/v1']);
    assert.deepEqual([...rules.keys()], ['apps/v1 DaemonSet']);
    assert.deepEqual(rules.get('apps/v1 DaemonSet')?.get('spec.parts'), { keys: ['id'], defaults: {} });
  });

  it('are not asked for where nothing with a list is merged', async () => {
    const { paths, cluster } = asked(() => assert.fail('asked'));
    await readListRules(cluster, [config({ a: '1' })]);
    assert.deepEqual(paths, []);
  });

  for (const [title, answer] of [
    ['may not be read', () => Promise.reject(new ApiFailure(403, 'Forbidden', 'no'))],
    ['are not served', () => Promise.reject(new ApiFailure(404, 'NotFound', 'no'))],
    ['are no JSON', () => Promise.resolve('<html>')],
  ] as const)
    it(`are those of the table if they ${title}`, async () => {
      assert.equal((await readListRules(asked(answer).cluster, [env({ A: '1' })])).size, 0);
    });

  it('do not hide a defect of ours', async () => {
    await assert.rejects(readListRules(asked(() => Promise.reject(new TypeError('ours'))).cluster, [env({ A: '1' })]), TypeError);
  });
});
