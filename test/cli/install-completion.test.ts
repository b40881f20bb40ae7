import assert from 'node:assert/strict';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { completerFor, installCompletion } from '../../src/cli/completion-scripts.ts';
import { emptyFolder } from '../support/folders.ts';

describe('the completer', () => {
  const folder = emptyFolder('netsvc completion ');

  it('is a shell script, and on Windows a command file that kubectl finds by PATHEXT', () => {
    assert.deepEqual(completerFor('linux'), completerFor('darwin'));
    assert.deepEqual(completerFor('linux'), {
      programs: ['kubectl-netsvc_upgrade'],
      file: 'kubectl_complete-netsvc_upgrade',
      script: '#!/bin/sh\nexec kubectl-netsvc_upgrade __complete "$@"\n',
    });
    assert.deepEqual(completerFor('win32'), {
      programs: ['kubectl-netsvc_upgrade.exe', 'kubectl-netsvc_upgrade.cmd'],
      file: 'kubectl_complete-netsvc_upgrade.cmd',
      script: '@echo off\r\nkubectl-netsvc_upgrade __complete %*\r\n',
    });
  });

  it('is written beside the program on PATH, once', async () => {
    const {
      programs: [program = ''],
      file,
      script,
    } = completerFor(process.platform);
    writeFileSync(join(folder, program), '');
    chmodSync(join(folder, program), 0o755);
    assert.match(await installCompletion(undefined, { PATH: folder }), /^installed /);
    assert.equal(readFileSync(join(folder, file), 'utf8'), script);
    assert.ok((statSync(join(folder, file)).mode & 0o111) !== 0);
    assert.match(await installCompletion(undefined, { PATH: folder }), /is installed already$/);
  });

  it('never takes the place of another program', async () => {
    const { file } = completerFor(process.platform);
    writeFileSync(join(folder, file), 'something else');
    await assert.rejects(installCompletion(folder, {}), /is another program/);
    assert.equal(readFileSync(join(folder, file), 'utf8'), 'something else');
  });

  it('needs a folder when the program is not on PATH', () =>
    assert.rejects(installCompletion(undefined, { PATH: folder }), /is not on PATH/));
});
