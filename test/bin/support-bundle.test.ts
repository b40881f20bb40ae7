import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { virtualClock } from '../../src/sandbox/clock.ts';
import { netsvcScenario } from '../../src/sandbox/scenario.ts';
import { testFolder } from '../support/folders.ts';
import type { Loopback } from '../support/loopback-server.ts';
import { serveSandbox } from '../support/served-sandbox.ts';
import { openKubeconfig, traced } from '../support/traced-process.ts';

const releases = join(import.meta.dirname, '..', '..', 'src', 'sandbox', 'releases');

describe('report --support as it is shipped', function () {
  this.timeout(30_000);
  const folder = testFolder('netsvc-support-bin-');
  let server: Loopback;

  before(async () => {
    const { cluster } = await netsvcScenario({ nodes: 2, releasesFolder: releases, clock: virtualClock() });
    const [pod] = cluster.store.list(K.Pod).filter(({ metadata }) => metadata.name.startsWith('netsvc-node'));
    assert.ok(pod);
    const status = {
      phase: 'Running',
      containerStatuses: [{ name: 'netsvc-node', ready: false, restartCount: 1, state: { waiting: {} } }],
    };
    cluster.store.update(K.Pod, { ...pod, status } as KubeObject);
    const { raw } = cluster;
    const log = 'token=geheim\npanic: no route\n';
    Object.assign(cluster, { raw: async (path: string) => (path.includes('/log?') ? log : raw(path)) });
    server = await serveSandbox(cluster);
    writeFileSync(join(folder, 'config'), openKubeconfig(server.url));
  });
  after(async () => {
    await server.close();
  });

  const run = (entry: string, ...args: readonly string[]) =>
    traced(entry, args, { PATH: folder, HOME: folder, XDG_STATE_HOME: folder, KUBECONFIG: join(folder, 'config') });

  it('writes what tar unpacks, without a run and with the log of a pod that is not ready, once', async () => {
    const file = join(folder, 's.tgz');
    const ran = await run('dist/cli/main.js', 'report', '--support', file);
    assert.equal(ran.exit, 0, ran.stdout + ran.stderr);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const { stdout } = spawnSync('tar', ['-xzOf', file], { encoding: 'utf8' });
    assert.match(stdout, /^token=\(hidden\)\npanic: no route$/m);
    assert.match(stdout, /^Bundle for support/m);
    assert.doesNotMatch(stdout, /geheim/);
    const before = readFileSync(file);
    const again = await run('dist/cli/main.js', 'report', '--support', file);
    assert.equal(again.exit, 64);
    assert.match(again.stderr, /exists already/);
    assert.deepEqual(readFileSync(file), before);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('s.tgz')),
      ['s.tgz'],
    );
  });

  it('is loaded by the flag alone', async () => {
    const supports = ({ imports }: Awaited<ReturnType<typeof run>>) =>
      imports.filter(({ url }) => /\/src\/(?:cli|features)\/support\//.test(url));
    assert.deepEqual(supports(await run('src/cli/main.ts', 'report')), []);
    assert.ok(supports(await run('src/cli/main.ts', 'report', '--support', join(folder, 'other.tgz'))).length > 5);
  });
});
