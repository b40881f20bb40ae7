import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '@oclif/core';
import { captureOutput } from '@oclif/test';
import type { Manifest } from '../../src/cli/complete.ts';
import { patient } from '../support/patience.ts';
import { sourceOptions } from '../support/run-oclif.ts';

const root = join(import.meta.dirname, '..', '..');
const program = join(root, 'bin', 'kubectl-netsvc_upgrade');
const entry = join(root, 'dist', 'cli', 'main.js');

function call(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: tmpdir(), env: { PATH: process.env.PATH, ...env }, encoding: 'utf8' });
  return { status, stdout, stderr };
}

/** The files of ours that a call loads, by V8's own coverage: exact, and free of timing. */
function loadedBy(args: readonly string[]): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'netsvc-coverage-'));
  try {
    spawnSync(process.execPath, [entry, ...args], {
      env: { ...process.env, KUBECONFIG: join(folder, 'none'), NODE_V8_COVERAGE: folder },
      encoding: 'utf8',
    });
    const reports = readdirSync(folder).map(
      (file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as { result: { url: string }[] },
    );
    return reports.flatMap((report) => report.result.map((script) => script.url)).filter((url) => url.startsWith('file:'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('the built program', () => {
  before(() => assert.ok(existsSync(entry), 'run: npm run build'));

  const manifest = JSON.parse(readFileSync(join(root, 'oclif.manifest.json'), 'utf8')) as Manifest;
  it('loads no API client, no progress tree and no cluster code for a usage error', () => {
    const loaded = loadedBy(['apply', '--bogus']).map((url) => readFileSync(new URL(url), 'utf8'));
    assert.ok(loaded.length > 1);
    for (const text of loaded) assert.doesNotMatch(text, /\bListr\s*=\s*class|undici|\bTransport\s*=\s*class/);
  });

  it('leaves nothing to the compilers whose threads can keep it from ending', () => {
    const { stdout } = spawnSync(process.execPath, ['--trace-opt', entry, 'demo', '--yes', '--fast'], {
      env: { ...process.env, HOME: tmpdir() },
      encoding: 'utf8',
      maxBuffer: 100_000_000,
    });
    const compiled = (compiler: string) => stdout.match(new RegExp(`^\\[compiling method .*\\(target ${compiler}`, 'gm'))?.length ?? 0;
    assert.ok(compiled('TURBOFAN') > 50, 'the trace tells what is compiled');
    // Node has compiled a few before the first line of the program.
    assert.ok(compiled('MAGLEV') < 20, `${compiled('MAGLEV')} functions`);
  }).timeout(patient(60_000));

  it('loads no runner of programs, no progress tree and no stage for a command that asks one thing of the cluster', () => {
    const loaded = loadedBy(['unlock', '--server=http://127.0.0.1:9', '--request-timeout=1s']).map((url) =>
      readFileSync(new URL(url), 'utf8'),
    );
    assert.ok(
      loaded.some((text) => /\bTransport\s*=\s*class/.test(text)),
      'it asked the cluster',
    );
    assert.deepEqual(
      loaded.flatMap((text) => /\bExecaError\b|\bListr\s*=\s*class|undici|preflightStage\s*=/.exec(text)?.[0] ?? []),
      [],
    );
  });

  it('prints the pages that oclif and its template engine make of the sources', async () => {
    for (const args of [['--help'], ['run', '--help'], ['explain', '--help']]) {
      const { stdout } = await captureOutput(() => run(args, sourceOptions()));
      assert.equal(call(args).stdout, stdout, args.join(' '));
      assert.doesNotMatch(stdout, /<%/);
    }
  });

  it('completes without oclif and without anything of the commands', () => {
    for (const words of [[''], ['apply', '--'], ['apply', '-o', ''], ['run', '--kubeconfig', ''], ['status', '--context', '']])
      for (const text of loadedBy(['__complete', ...words]).map((url) => readFileSync(new URL(url), 'utf8')))
        assert.doesNotMatch(
          text,
          /flagUsages|\bOwnCommand\b|\bListr\s*=\s*class|undici|preflightStage\s*=|\bTransport\s*=\s*class/,
          words.join(' '),
        );
  });

  it('begins the flags of every group at one column', () => {
    for (const id of Object.keys(manifest.commands)) {
      const { stdout } = call([id, '--help']);
      for (const [, group = ''] of stdout.matchAll(/^[A-Z ]*FLAGS\n((?:.|\n(?!\n))*)/gm)) {
        const columns = group.split('\n').flatMap((line) => /^(?: {2}-\w, | {6}| {2})(?=--)/.exec(line)?.[0].length ?? []);
        assert.equal(new Set(columns).size, 1, `${id}\n${group}`);
      }
    }
  });

  it('ends quietly when the reader goes away', () => {
    const shell = (line: string) => spawnSync('/bin/bash', ['-o', 'pipefail', '-c', line, 'sh', program], { encoding: 'utf8' });
    for (const line of ['"$1" --help | head -1', '"$1" run --help | true', '"$1" explain | head -1']) {
      const { status, stderr } = shell(line);
      assert.deepEqual([status, stderr], [0, ''], line);
    }
  });

  it('shows the name it was called by', () => {
    const folder = mkdtempSync(join(tmpdir(), 'netsvc link '));
    try {
      symlinkSync(program, join(folder, 'netsvcctl-upgrade'));
      const { stdout } = spawnSync(join(folder, 'netsvcctl-upgrade'), ['run', '--help'], { encoding: 'utf8' });
      assert.match(stdout, /^ {2}\$ netsvcctl upgrade run \[flags\]$/m);
      assert.doesNotMatch(stdout, /kubectl netsvc-upgrade/);
      const misspelt = spawnSync(join(folder, 'netsvcctl-upgrade'), ['plan', '--ot=x'], { encoding: 'utf8' });
      assert.match(misspelt.stderr, /did you mean --out\?\nNext: netsvcctl upgrade plan --help\n/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('imports no CommonJS package dynamically: the bundler leaves such an import without named exports', () => {
    const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
    const names = sources.flatMap((file) => [
      ...readFileSync(join(root, 'src', file), 'utf8').matchAll(/import\('((?:@[\w-]+\/)?[\w-]+)'\)/g),
    ]);
    const packages = new Set(names.map(([, name = '']) => name));
    const kindOf = (name: string) =>
      (JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')) as { type?: string }).type;
    assert.ok(packages.size > 0);
    assert.deepEqual(
      [...packages].filter((name) => kindOf(name) !== 'module'),
      [],
    );
  });

  it('writes a document as YAML', () => {
    const { status, stdout } = call(['demo', '--fast', '-o', 'yaml'], { HOME: tmpdir() });
    assert.equal(status, 0);
    assert.match(stdout, /^apiVersion: output\.netsvc-upgrade\/v1\n/);
  });

  it('reads numbers, and refuses what is none', () => {
    const refused = call(['run', '--max-failed', 'x']);
    assert.deepEqual([refused.status, refused.stderr.split('\n')[0]], [64, 'error: --max-failed: expected an integer but received: x']);
    assert.doesNotMatch(call(['run', '--max-failed', '2', '--server', 'http://127.0.0.1:1']).stderr, /max-failed/);
  });

  it('exits 64 with a suggestion for an unknown command and an unknown flag', () => {
    assert.deepEqual(call(['prefligth']), {
      status: 64,
      stdout: '',
      stderr:
        'error: unknown command "prefligth"\ndid you mean: kubectl netsvc-upgrade preflight\nNext: kubectl netsvc-upgrade preflight --help\n',
    });
    const flag = call(['wait', '--time=1m']);
    assert.deepEqual([flag.status, flag.stdout], [64, '']);
    assert.match(flag.stderr, /^error: unknown flag --time\ndid you mean --timeout\?\n/);
  });

  it('prints an error as one small JSON document on stderr under -o json', () => {
    const { status, stdout, stderr } = call(['apply', '--bad', '-o', 'json']);
    assert.deepEqual([status, stdout], [64, '']);
    assert.ok(stderr.length < 1000);
    assert.equal((JSON.parse(stderr) as { kind: string }).kind, 'Error');
  });

  it('explains a check without a cluster', () => {
    const { status, stdout, stderr } = call(['explain', 'ns-105']);
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(stdout, /NS-105/);
  });

  it('completes through kubectl’s protocol', () => {
    const { stdout } = spawnSync(join(root, 'bin', 'kubectl_complete-netsvc_upgrade'), ['apply', '--dry-run='], { encoding: 'utf8' });
    assert.equal(stdout, '--dry-run=none\n--dry-run=server\n--dry-run=client\n:36\n');
  });
});
