import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { parse } from 'yaml';
import { scripts } from '../../build/pack-contents.ts';
import { emptyFolder } from '../support/folders.ts';
import { writePluginStarter } from '../support/plugin-starter.ts';

const root = join(import.meta.dirname, '..', '..');
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

describe('both ways of calling', () => {
  const folder = emptyFolder('netsvc names ');
  let clis: string;
  beforeEach(() => {
    clis = join(folder, 'clis');
    mkdirSync(clis);
    for (const name of ['kubectl', 'netsvcctl'] as const) writePluginStarter(clis, name);
    // npm's start asks for `node`, and an archive has its own.
    symlinkSync(process.execPath, join(clis, 'node'));
  });

  const call = (bin: string, program: string, args: readonly string[]) => {
    const env = { HOME: folder, PATH: [clis, bin, '/usr/bin', '/bin'].join(delimiter) };
    const { status, stdout, stderr } = spawnSync(join(clis, program), args, { env, encoding: 'utf8' });
    return { status, stdout, stderr };
  };

  function assertBothAnswer(bin: string) {
    for (const [program, plugin] of [
      ['kubectl', 'netsvc-upgrade'],
      ['netsvcctl', 'upgrade'],
    ] as const) {
      assert.deepEqual(call(bin, program, [plugin, '--version']).stderr, '', program);
      assert.match(call(bin, program, [plugin, '--version']).stdout, /^netsvc-upgrade v/, program);
      const { status, stdout } = call(bin, program, [plugin, 'preflight', '--help']);
      assert.deepEqual([status, stdout.includes(`$ ${program} ${plugin} preflight`)], [0, true], stdout);
    }
  }

  /** The archive, unpacked: its scripts, a Node beside them, and the built program. */
  function unpacked(): string {
    const home = join(folder, 'unpacked');
    mkdirSync(join(home, 'bin'), { recursive: true });
    for (const { path, content } of scripts(root)) writeFileSync(join(home, path), content, { mode: 0o755 });
    symlinkSync(process.execPath, join(home, 'bin', 'node'));
    symlinkSync(join(root, 'dist'), join(home, 'dist'));
    return join(home, 'bin');
  }

  it('work from an archive', () => assertBothAnswer(unpacked()));

  it('work from the npm package', () => {
    const bin = join(folder, 'npm');
    mkdirSync(bin);
    const links = Object.entries((JSON.parse(textOf('package.json')) as { readonly bin: Readonly<Record<string, string>> }).bin);
    for (const [name, file] of links) symlinkSync(join(root, file), join(bin, name));
    assertBothAnswer(bin);
  });

  it('work from krew, which links one name, once the line of the caveats is run', () => {
    const krew = join(folder, 'krew root');
    const bin = join(krew, 'bin');
    mkdirSync(bin, { recursive: true });
    symlinkSync(join(unpacked(), 'kubectl-netsvc_upgrade'), join(bin, 'kubectl-netsvc_upgrade'));
    assert.equal(call(bin, 'netsvcctl', ['upgrade', '--version']).status, 1);
    const line = /^ *(ln -s .*)$/m.exec((parse(textOf('plugin.yaml')) as { spec: { caveats: string } }).spec.caveats)?.[1] ?? '';
    const env = { HOME: folder, KREW_ROOT: krew, PATH: '/usr/bin:/bin' };
    assert.deepEqual(spawnSync('/bin/sh', ['-c', line], { env, encoding: 'utf8' }).stderr, '');
    assertBothAnswer(bin);
  });
});
