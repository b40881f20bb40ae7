import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { itWhere } from '../support/needs.ts';

const START = join(import.meta.dirname, '..', '..', 'bin', 'start.cjs');

describe('a disk without room', () => {
  itWhere(existsSync('/dev/full') ? undefined : 'there is no /dev/full', 'for the output is one clear error, and no success', () => {
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(process.execPath, [START, 'explain', 'NS-001'], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    });
    closeSync(full);
    assert.match(stderr, /^error: the output could not be written: ENOSPC\b.*\nmake room, then run the same command again\n$/);
    assert.equal(status, 1);
  });
});
