import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const wire = pathToFileURL(join(import.meta.dirname, '..', '..', 'src', 'adapters', 'kube', 'wire.ts')).href;

/** Which of Node's own modules are loaded once a connection to a server is open. */
function loadedFor(server: string): string {
  const code = `
    import { openWire } from '${wire}';
    (await openWire({ server: '${server}', cluster: { 'certificate-authority-data': 'eA==' }, env: {} }, {})).close();
    console.log(process.moduleLoadList.join());`;
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return stdout;
}

describe('a connection to the API server', () => {
  for (const server of ['http://127.0.0.1:9', 'https://127.0.0.1:9'])
    it(`does not load Node’s fetch for ${server}`, () => {
      const loaded = loadedFor(server);
      assert.match(loaded, /_http_client/);
      assert.doesNotMatch(loaded, /undici/);
    });
});
