import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { resolvePrograms } from '../control-plane/binaries.ts';
import { PLUGIN_API, PLUGIN_CASES, pluginGround } from '../support/plugin-cases.ts';

describe('the real kubectl, by its preferences', function () {
  if (process.platform === 'win32') return;
  this.timeout(600_000);
  let kubectl = '';
  before(async () => {
    kubectl = (await resolvePrograms()).kubectl;
    const { stdout } = spawnSync(kubectl, ['version', '--client', '-o', 'json'], { encoding: 'utf8' });
    const { clientVersion } = JSON.parse(stdout) as { clientVersion: { minor: string } };
    assert.ok(Number.parseInt(clientVersion.minor, 10) >= 36, 'the oldest kubectl that knows the words of the table');
  });

  for (const one of PLUGIN_CASES.filter(({ stricter }) => !stricter))
    it(`${one.runs ? 'runs' : 'does not run'} a credential plugin with ${one.what}, too`, async () => {
      const { home, command, env, marker } = await pluginGround(one);
      try {
        const user = { exec: { apiVersion: PLUGIN_API, command, interactiveMode: 'Never' } };
        const clusters = [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }];
        const contexts = [{ name: 'c', context: { cluster: 'c', user: 'u' } }];
        const config = { apiVersion: 'v1', kind: 'Config', 'current-context': 'c', clusters, contexts, users: [{ name: 'u', user }] };
        await writeFile(join(home, 'config'), JSON.stringify(config));
        const run = spawnSync(kubectl, [`--kubeconfig=${join(home, 'config')}`, 'get', '--raw', '/version'], {
          env,
          cwd: home,
          encoding: 'utf8',
        });
        assert.equal(existsSync(marker), one.runs, run.stderr);
      } finally {
        await rm(dirname(home), { recursive: true });
      }
    });
});
