import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { testFolder } from './folders.ts';

const root = join(import.meta.dirname, '..', '..');

/** Each kind of limit is set to 100 ms, and each takes four times as long. */
const SLOW = `
const slow = () => new Promise((resolve) => setTimeout(resolve, 400));
describe('slow', function () {
  this.timeout(100);
  before(slow);
  before(function () { this.timeout(100); return slow(); });
  it('by its suite', slow);
  it('by itself', function () { this.timeout(100); return slow(); });
});
it('by the command line', slow);
`;

describe('limits of tests', () => {
  const file = join(testFolder('netsvc-patience-'), 'slow.cjs');
  writeFileSync(file, SLOW);
  const ended = async (times: string) =>
    (await execa('mocha', ['--timeout', '100', file], { cwd: root, env: { TEST_SLOWER: times }, reject: false, preferLocal: true }))
      .exitCode;

  it('follow the speed of the machine: of hooks, suites, tests and the command line', async () => {
    assert.equal(await ended('50'), 0);
    assert.notEqual(await ended('1'), 0);
  });
});
