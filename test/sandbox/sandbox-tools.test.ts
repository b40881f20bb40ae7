import assert from 'node:assert/strict';
import type { Invocation } from '../../src/kernel/argv.ts';
import { K } from '../../src/kernel/kinds.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import { virtualClock } from '../../src/sandbox/clock.ts';
import { sandboxCluster } from '../../src/sandbox/sandbox-cluster.ts';
import { SandboxFiles } from '../../src/sandbox/sandbox-files.ts';
import { BIN_DIR, sandboxTools } from '../../src/sandbox/sandbox-tools.ts';

describe('the programs of the sandbox', () => {
  const cluster = sandboxCluster({ profile: netsvc, clock: virtualClock() });
  const files = new SandboxFiles();
  const tools = sandboxTools(cluster, files);
  before(async () => {
    await cluster.create(K.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } });
    await cluster.create(K.ConfigMap, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'map', namespace: 'default' },
      data: { a: '1' },
    });
    files.write(`${BIN_DIR}/netsvcctl`, 'netsvcctl v3.26.4\n', true);
  });

  const refused: readonly (readonly [Invocation['tool'], string, RegExp])[] = [
    ['kubectl', 'apply -f file.yaml', /does not know: apply/],
    ['kubectl', 'apply --server-side --force-conflicts -f none.yaml', /path "none.yaml" does not exist/],
    ['kubectl', 'apply --server-side --force-conflicts --prune -f none.yaml', /does not know/],
    ['kubectl', 'delete pod a', /does not know: delete/],
    ['kubectl', 'patch nothings a --type=merge -p {}', /have a resource type "nothings"/],
    ['kubectl', 'patch configmap none --type=merge -p {}', /configmaps "none" not found/],
    ['netsvcctl', 'get nodes', /is not supported/],
    ['helm', 'list', /has no helm/],
  ];
  for (const [tool, line, why] of refused) {
    it(`refuse with exit 1 and words: ${tool} ${line}`, async () => {
      const { exitCode, stderr } = await tools.run({ tool, args: line.split(' ') });
      assert.equal(exitCode, 1);
      assert.match(stderr, why);
    });
  }

  for (const flag of ['-p', '--patch'])
    it(`patch by merge with ${flag}, and tell every line as it comes`, async () => {
      const told: string[] = [];
      const args = ['patch', 'configmap', 'map', '-n', 'default', '--type=merge', flag, `{"data":{"a":null,"b":"${flag}"}}`];
      await tools.run({ tool: 'kubectl', args }, { onLine: (line, stream) => told.push(`${stream} ${line}`) });
      assert.deepEqual((await cluster.get(K.ConfigMap, 'map', 'default'))?.data, { b: flag });
      assert.deepEqual(told, ['stdout configmaps/map patched']);
    });

  it('patch by JSON patch, too', async () => {
    const patch = JSON.stringify([{ op: 'add', path: '/data/c', value: '1' }]);
    await tools.run({ tool: 'kubectl', args: ['patch', 'configmap', 'map', '-n', 'default', '--type=json', '-p', patch] });
    assert.match(JSON.stringify(await cluster.get(K.ConfigMap, 'map', 'default')), /"c":"1"/);
  });

  it('are found where they lie, and tell the release that their file says', async () => {
    assert.deepEqual(await tools.which('netsvcctl'), [`${BIN_DIR}/netsvcctl`]);
    assert.deepEqual(await tools.which('helm'), []);
    const { stdout } = await tools.run({ tool: 'netsvcctl', args: ['version', '--client'] });
    assert.match(stdout, /^Client Version:\s+v3\.26\.4$/m);
  });
});
