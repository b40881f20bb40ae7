import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '..', '..');
/** They upgrade on every install path, and have the checks of the target. */
const FILES = ['test/sandbox/every-path.test.ts', 'test/features/{preflight,survey,verify,install-operator,install-chart}/*.test.ts'];

describe('a release that is newer than all', () => {
  for (const file of FILES)
    it(`is upgraded to where the profiles know it: ${file}`, async function () {
      this.timeout(240_000);
      const mocha = join(root, 'node_modules', 'mocha', 'bin', 'mocha.js');
      const args = [mocha, '--require', 'test/support/next-target.ts', '--reporter', 'json', file];
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, maxBuffer: 1 << 26 }).catch(
        (thrown: { readonly stdout?: string }) => ({ stdout: thrown.stdout ?? '' }),
      );
      const { passes, failures } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as Ran;
      assert.deepEqual(
        failures.map(({ fullTitle, err }) => `${fullTitle}: ${err.message}`),
        [],
      );
      assert.ok(passes.length > 0);
    });
});

interface Ran {
  readonly passes: readonly unknown[];
  readonly failures: readonly { readonly fullTitle: string; readonly err: { readonly message: string } }[];
}
