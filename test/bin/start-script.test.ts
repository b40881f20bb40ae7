import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMPLETION_SCRIPTS } from '../../src/cli/completion-scripts.ts';
import { emptyFolder } from '../support/folders.ts';
import { itWhere, lacksProgram } from '../support/needs.ts';

const root = join(import.meta.dirname, '..', '..');

/** A checkout with a program that only tells how it was called. */
describe('the start script', () => {
  const folder = emptyFolder('netsvc bin ');
  let home: string;
  let start: string;

  beforeEach(() => {
    home = join(folder, 'a checkout');
    cpSync(join(root, 'bin'), join(home, 'bin'), { recursive: true });
    mkdirSync(join(home, 'dist', 'cli'), { recursive: true });
    writeFileSync(join(home, 'package.json'), '{"type":"module"}');
    writeFileSync(join(home, 'dist', 'cli', 'main.js'), 'console.log(JSON.stringify([process.env.NETSVC_ARGV0, process.argv.slice(2)]));');
    start = join(home, 'bin', 'kubectl-netsvc_upgrade');
  });

  /** A folder for PATH with a `node` that says this version and otherwise is the node of the tests. */
  function nodeOf(version: string): string {
    const path = join(folder, `node ${version}`);
    mkdirSync(path);
    writeFileSync(join(path, 'node'), `#!/bin/sh\n[ "$1" = --version ] && { echo ${version}; exit; }\nexec '${process.execPath}' "$@"\n`);
    chmodSync(join(path, 'node'), 0o755);
    return path;
  }

  function call(program: string, args: readonly string[], path: string, cwd = folder, env: NodeJS.ProcessEnv = {}) {
    const { status, stdout, stderr } = spawnSync(program, args, { cwd, env: { ...env, PATH: path }, encoding: 'utf8' });
    return { status, stdout, stderr };
  }

  const odd = ['a b', '', '*', "it's", '"'];

  it('passes every argument as it is, from any folder, with spaces in its path', () => {
    const { stdout, status } = call(start, odd, nodeOf('v22.13.0'));
    assert.deepEqual([status, JSON.parse(stdout)], [0, ['kubectl-netsvc_upgrade', odd]]);
  });

  it('works through links, absolute and relative, and tells the name it was called by', () => {
    const links = join(folder, 'some links');
    mkdirSync(links);
    symlinkSync(start, join(links, 'first'));
    symlinkSync('first', join(links, 'netsvcctl-upgrade'));
    const path = `${nodeOf('v24.0.0')}:/usr/bin:/bin`;
    assert.deepEqual(JSON.parse(call(join(links, 'netsvcctl-upgrade'), ['run'], path).stdout), ['netsvcctl-upgrade', ['run']]);
  });

  it('works when it is called by a relative name', () => {
    const path = nodeOf('v22.13.0');
    assert.equal(call('./kubectl-netsvc_upgrade', [], path, join(home, 'bin')).status, 0);
    assert.equal(call('/bin/sh', ['kubectl-netsvc_upgrade'], path, join(home, 'bin')).status, 0);
  });

  it('leaves glibc one arena and no large pieces, unless somebody set them', () => {
    writeFileSync(
      join(home, 'dist', 'cli', 'main.js'),
      'console.log(JSON.stringify([process.env.MALLOC_ARENA_MAX, process.env.MALLOC_MMAP_THRESHOLD_, process.env.NETSVC_ARENAS]));',
    );
    const path = nodeOf('v24.0.0');
    assert.deepEqual(JSON.parse(call(start, [], path).stdout), ['1', '262144', 'own']);
    assert.deepEqual(JSON.parse(call(start, [], path, undefined, { MALLOC_ARENA_MAX: '3' }).stdout), ['3', null, null]);
  });

  it('prefers the Node of the checkout, without asking its version', () => {
    const own = join(home, 'node_modules', '.bin');
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, 'node'), '#!/bin/sh\necho own "$*"\n');
    chmodSync(join(own, 'node'), 0o755);
    assert.match(
      call(start, [], nodeOf('v20.0.0')).stdout,
      /^own --expose-gc --min-semi-space-size=\d+ --max-semi-space-size=\d+ .*main\.js *\n$/,
    );
  });

  it('prefers the Node beside it, as in an archive, through a link and with no program on the PATH', () => {
    for (const place of [join(home, 'bin'), join(home, 'node_modules', '.bin')]) {
      mkdirSync(place, { recursive: true });
      writeFileSync(join(place, 'node'), '#!/bin/sh\necho "$0"\n');
      chmodSync(join(place, 'node'), 0o755);
    }
    symlinkSync(start, join(folder, 'linked'));
    const { stdout, stderr } = call(join(folder, 'linked'), [], join(folder, 'nothing here'));
    assert.deepEqual([stdout, stderr], [`${join(home, 'bin', 'node')}\n`, '']);
  });

  it('is a script that a strict POSIX shell reads', () => {
    for (const file of ['kubectl-netsvc_upgrade', 'kubectl_complete-netsvc_upgrade'])
      assert.deepEqual(spawnSync('sh', ['-n', join(home, 'bin', file)], { encoding: 'utf8' }).stderr, '');
  });

  const shellcheck = (...args: readonly string[]) => spawnSync('shellcheck', args, { input: COMPLETION_SCRIPTS.bash, encoding: 'utf8' });
  itWhere(lacksProgram('shellcheck'), 'has nothing that shellcheck finds', () => {
    const files = ['kubectl-netsvc_upgrade', 'kubectl_complete-netsvc_upgrade'].map((file) => join(home, 'bin', file));
    assert.equal(shellcheck(...files).stdout, '');
    assert.equal(shellcheck('--shell=bash', '-').stdout, '');
  });

  for (const version of ['v20.20.2', 'v22.12.0', 'v8.1.0']) {
    it(`refuses Node ${version} with exit 1 and the next step`, () => {
      const { status, stdout, stderr } = call(start, ['--help'], nodeOf(version));
      assert.deepEqual([status, stdout], [1, '']);
      assert.match(stderr, new RegExp(`^error: Node\\.js ${version} \\(.*\\) is too old\\ninstall Node\\.js 22\\.13 or later`));
    });
  }

  it('starts no node of the current folder, whatever PATH says', () => {
    const here = nodeOf('v24.0.0');
    for (const path of ['.:/nowhere', ':/nowhere']) {
      const { status, stdout, stderr } = call(start, [], path, here);
      assert.deepEqual([status, stdout], [1, '']);
      assert.match(stderr, /^error: PATH finds Node\.js in the current folder \(.*\)\nleave out of PATH what does not begin with \//);
    }
  });

  it('lets a crash leave no copy of its memory', () => {
    writeFileSync(
      join(home, 'dist', 'cli', 'main.js'),
      "console.log(require('child_process').execSync('ulimit -c', { shell: '/bin/sh' }) + '')",
    );
    writeFileSync(join(home, 'package.json'), '{}');
    const { stdout } = call('/bin/sh', ['-c', 'ulimit -S -c 64 2>/dev/null; exec "$0"', start], `${nodeOf('v24.0.0')}:/bin`);
    assert.equal(stdout.trim(), '0');
  });

  it('refuses a node that says no version', () => {
    assert.match(call(start, [], nodeOf('rubbish')).stderr, /does not say its version/);
  });

  it('says that Node is missing', () => {
    const { status, stderr } = call('/bin/sh', [start], folder);
    assert.deepEqual([status, stderr], [1, 'error: Node.js is not installed\ninstall Node.js 22.13 or later, then run the same command\n']);
  });

  it('says that the program is not built, and how to build it', () => {
    rmSync(join(home, 'dist'), { recursive: true });
    const { status, stderr } = call(start, [], nodeOf('v24.0.0'));
    assert.equal(status, 1);
    assert.match(stderr, /^error: the program is not built: .*\nbuild it, in its own folder: npm ci && npm run build\n$/);
  });

  it('completes through the program beside it', () => {
    const { stdout } = call(join(home, 'bin', 'kubectl_complete-netsvc_upgrade'), ['pre', ''], nodeOf('v24.0.0'));
    assert.deepEqual(JSON.parse(stdout), ['kubectl-netsvc_upgrade', ['__complete', 'pre', '']]);
  });
});
