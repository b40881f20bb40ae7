import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, posix, win32 } from 'node:path';
import { pathToFileURL } from 'node:url';
import { displayedName } from '../../src/cli/name.ts';
import { emptyFolder } from '../support/folders.ts';

const root = join(import.meta.dirname, '..', '..');

interface Launcher {
  refusal(version: string, program: string): readonly [string, string] | undefined;
  mainOf(folder: string, paths: typeof posix): string;
  calledAs(started: string, paths: typeof posix): string;
}
const { refusal, mainOf, calledAs } = createRequire(import.meta.url)('../../bin/start.cjs') as Launcher;

describe('the start of the npm package', () => {
  it('is what npm installs, under the names that kubectl and the service’s CLI look for', () => {
    const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    assert.deepEqual(bin, { 'kubectl-netsvc_upgrade': 'bin/start.cjs', 'netsvcctl-upgrade': 'bin/start.cjs' });
    // From this line npm makes the command files for Windows: anything but Node would have to be installed there.
    assert.match(readFileSync(join(root, 'bin', 'start.cjs'), 'utf8'), /^#!\/usr\/bin\/env node\n/);
  });

  for (const [paths, folder, url] of [
    [posix, '/usr/lib/node_modules/kubectl-netsvc-upgrade/bin', 'file:///usr/lib/node_modules/kubectl-netsvc-upgrade/dist/cli/main.js'],
    [
      win32,
      'C:\\Users\\Ada L\\AppData\\npm\\node_modules\\kubectl-netsvc-upgrade\\bin',
      'file:///C:/Users/Ada%20L/AppData/npm/node_modules/kubectl-netsvc-upgrade/dist/cli/main.js',
    ],
    [win32, '\\\\server\\tools #1\\bin', 'file://server/tools%20%231/dist/cli/main.js'],
  ] as const)
    it(`finds the program from ${folder}`, () => {
      assert.equal(pathToFileURL(mainOf(folder, paths), { windows: paths === win32 }).href, url);
    });

  for (const [paths, started, shown] of [
    [posix, '/opt/a b/bin/kubectl-netsvc_upgrade', 'kubectl netsvc-upgrade'],
    [posix, '/usr/local/bin/netsvcctl-upgrade', 'netsvcctl upgrade'],
    [win32, 'C:\\npm\\node_modules\\kubectl-netsvc-upgrade\\bin\\start.cjs', 'kubectl netsvc-upgrade'],
    [win32, 'C:/netsvcctl-tools/start.cjs', 'kubectl netsvc-upgrade'],
  ] as const)
    it(`calls itself ${shown} when started as ${started}`, () => {
      assert.equal(displayedName(calledAs(started, paths)), shown);
    });

  for (const [version, isOld] of [
    ['v8.17.0', true],
    ['v20.20.2', true],
    ['v22.12.9', true],
    ['v22.13.0', false],
    ['v23.0.0', false],
    ['v100.0.0', false],
    ['v24.0.0-nightly2026', false],
  ] as const)
    it(`${isOld ? 'refuses' : 'takes'} Node ${version}`, () => {
      const next = 'install Node.js 22.13 or later, then run the same command';
      const expected = isOld ? [`Node.js ${version} (C:\\node.exe) is too old`, next] : undefined;
      assert.deepEqual(refusal(version, 'C:\\node.exe'), expected);
    });

  it('refuses a Node without a version', () =>
    assert.match(refusal('rubbish', '/bin/node')?.[0] ?? '', /^\/bin\/node does not say its version$/));
});

describe('the start of the npm package, run', () => {
  const folder = emptyFolder('netsvc npm ');
  let home: string;
  let start: string;
  beforeEach(() => {
    home = join(folder, 'a #package');
    cpSync(join(root, 'bin'), join(home, 'bin'), { recursive: true });
    mkdirSync(join(home, 'dist', 'cli'), { recursive: true });
    writeFileSync(join(home, 'package.json'), '{"type":"module"}');
    writeFileSync(join(home, 'dist', 'cli', 'main.js'), 'console.log(JSON.stringify([process.env.NETSVC_ARGV0, process.argv.slice(2)]));');
    start = join(home, 'bin', 'start.cjs');
  });

  function call(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8' });
    return { status, stdout, stderr };
  }

  it('passes every argument as it is, and the name of the link it was called by', () => {
    const odd = ['a b', '', '*', "it's", '"', '--help'];
    const link = join(folder, 'netsvcctl-upgrade');
    symlinkSync(start, link);
    for (const [started, name] of [
      [start, 'start.cjs'],
      [link, 'netsvcctl-upgrade'],
    ] as const) {
      const { status, stdout, stderr } = call([started, ...odd], { NETSVC_ARGV0: 'of-another' });
      assert.deepEqual([status, stderr, JSON.parse(stdout)], [0, '', [name, odd]]);
    }
  });

  it('refuses an old Node in the words of the shell script, before it loads anything', () => {
    const old = join(folder, 'old.cjs');
    writeFileSync(old, "Object.defineProperty(process, 'version', { value: 'v20.20.2' });");
    assert.deepEqual(call(['--require', old, start, '--version']), {
      status: 1,
      stdout: '',
      stderr: `error: Node.js v20.20.2 (${process.execPath}) is too old\ninstall Node.js 22.13 or later, then run the same command\n`,
    });
  });

  it('says that the program is not built, and how to build it', () => {
    rmSync(join(home, 'dist'), { recursive: true });
    const { status, stderr } = call([start]);
    assert.equal(status, 1);
    assert.match(
      stderr,
      /^error: the program is not built: .*main\.js is missing\nbuild it, in its own folder: npm ci && npm run build\n$/,
    );
  });

  it('is the program itself: its help, and its exit codes', () => {
    const real = join(root, 'bin', 'start.cjs');
    const help = call([real, '--help'], { HOME: folder });
    assert.deepEqual([help.status, help.stderr], [0, '']);
    assert.match(help.stdout, /kubectl netsvc-upgrade/);
    assert.match(call([real, 'explain'], { HOME: folder }).stdout, /NS-101/);
    assert.equal(call([real, 'aply'], { HOME: folder }).status, 64);
  });
});
