import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SCRIPT } from '../../../src/features/node-probe/job.ts';
import { testFolder } from '../../support/folders.ts';

const run = promisify(execFile);

/** The script itself in the shell of this machine: only the file of its message is another one. */
describe('the script of a node probe', () => {
  const folder = testFolder('probe-script-');
  async function told(ports: readonly number[], name: string, ...program: readonly string[]) {
    const file = join(folder, `${Math.random()}`);
    const hex = ports.map((port) => port.toString(16).toUpperCase().padStart(4, '0')).join(' ');
    const script = SCRIPT.replaceAll('/dev/termination-log', file);
    const code = await run('sh', ['-c', script, 'probe', hex, name, ...program]).then(
      () => 0,
      ({ code: exit }: { readonly code: number }) => exit,
    );
    return { lines: (await readFile(file, 'utf8')).trim().split('\n'), code, hex };
  }

  it('tells which of these ports are listened on, and binds none', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { readonly port: number };
    const { lines, hex } = await told([port], '', 'true');
    assert.deepEqual(
      lines.filter((line) => line.startsWith('port')),
      [`port ${hex}`],
    );
    await new Promise((resolve) => server.close(resolve));
    assert.deepEqual(
      (await told([port], '', 'true')).lines.filter((line) => line.startsWith('port')),
      [],
    );
  });

  it('tells read-only file systems as this kernel has them, and ends as the program does', async () => {
    const { lines, code } = await told([], '', 'sh', '-c', 'exit 7');
    const mounts = (await readFile('/proc/self/mountinfo', 'utf8')).trim().split('\n');
    const readOnly = mounts
      .filter((line) => (line.split(' - ')[1] ?? '').split(' ')[2]?.split(',').includes('ro'))
      .map((line) => line.split(' ')[4]);
    assert.deepEqual(
      lines.filter((line) => line.startsWith('ro ')).map((line) => line.slice(3)),
      readOnly,
    );
    assert.deepEqual([lines.at(-1), code], ['done', 7]);
  });

  it('tells that the program is not there, and does not take that for a processor that cannot run it', async () => {
    const { lines, code } = await told([], '', '/no/such/program', '-v');
    assert.deepEqual([lines.at(-1), code], ['program /no/such/program', 0]);
  });

  it('tells whether the resolver of the node knows a name', async () => {
    assert.ok((await told([], 'localhost', 'true')).lines.some((line) => /^name (?:yes|untried)$/.test(line)));
    assert.ok((await told([], 'no-such-name.invalid', 'true')).lines.some((line) => /^name (?:no|untried)$/.test(line)));
  });
});
