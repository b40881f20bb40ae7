import { existsSync, globSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { execa } from 'execa';
import { resolvePrograms } from './control-plane/binaries.ts';
import { runnerArguments } from './support/seed.ts';

/**
 * `npm test`: everything this machine allows, and a last block that names each test that did not run, with the reason.
 * With CI=true the real control plane is mandatory; `--full` adds every release, variant and sweep,
 * `--seed N` brings the points of sampled sweeps back.
 */

interface Totals {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: readonly string[];
  /** Milliseconds of the tests and hooks of each file. */
  readonly tookMs: Readonly<Record<string, number>>;
}

/**
 * Begun first, so that at the end no long one runs while the other processors wait; the fast ones come last. The very first counts the steps
 * of all code that its process has loaded: behind others it takes three times as long.
 */
const LONGEST = `
  foreign-text-cost
  procedure-c chart operator kvstore chart-back canary rollback journal-by-hand one-cluster attacker
  upgrade-early-reads-sweep upgrade-late-reads-sweep fault-sweep upgrade-writes-sweep restore-sweep
  owned-upgrade-sweep owner-lock-sweep plan-equals-result every-release hep-fleet ownerrefs operator-releases hep
  least-privilege printed-roles edits-through-upgrade v3-owned-objects bad-input
  manifest-back next-steps incidents no-false-alarms hooks planted-secrets unknown-sums unshown-values error-ends
  examples merge-properties owner-lock-faults built-program held-typha plan-document probe-network record-lost connections pace last-lines
  upgrade-faults every-path apply-waves edits kubeconfig fuzz-state whole-chain older-file interrupt
`
  .trim()
  .split(/\s+/);

const root = join(import.meta.dirname, '..');
const { full, env: seed } = runnerArguments(process.argv.slice(2));
const strict = process.env.CI === 'true';
const notRun: string[] = [];

async function step(title: string, program: string, args: readonly string[], env: Record<string, string> = {}): Promise<boolean> {
  const started = Date.now();
  process.stdout.write(`\n== ${title}\n`);
  const result = await execa(program, args, { cwd: root, env, stdio: 'inherit', reject: false, preferLocal: true });
  const ending = result.exitCode === 0 ? 'ok' : `failed (${result.exitCode ?? result.signal})`;
  process.stdout.write(`== ${title}: ${ending}, ${Math.round((Date.now() - started) / 1000)} s\n`);
  return result.exitCode === 0;
}

/** With CI=true no more tests may be skipped than a machine explains that has no browser, no other shells and no linters of others. */
const MOST_SKIPPED = 15;

/**
 * The control planes of tests live for minutes and collect their garbage less often than others: it saves an API server a tenth of its CPU time.
 * Never at all saves no more, for memory that is new each time costs as much. Benches and people have servers as they are.
 */
const servers: Record<string, string> = process.env.GOGC === undefined ? { GOGC: '400' } : {};

/** Milliseconds in which a usual machine starts Node, once on each processor. */
const USUAL_START_MS = 35;
const STARTS = 20;

/** By how much limits of tests have to be longer here (test/support/patience.ts). */
async function slower(): Promise<number> {
  const began = performance.now();
  const starts = async () => {
    for (let count = 0; count < STARTS; count += 1) await execa('node', ['-e', '0'], { cwd: root, preferLocal: true });
  };
  await Promise.all(Array.from({ length: availableParallelism() }, starts));
  const times = Math.max(1, (performance.now() - began) / STARTS / USUAL_START_MS);
  if (times > 1.5)
    process.stdout.write(`this machine is ${times.toFixed(1)} times slower than usual: limits of tests are longer by as much\n`);
  return times;
}

const times = process.env.TEST_SLOWER ?? String(await slower());

/** As many files at once as there are processors; four more where a test waits two thirds of its time for a control plane. */
function mocha(title: string, files: readonly string[], totals: string, extra: readonly string[] = [], more = 0): Promise<boolean> {
  const jobs = ['--parallel', '--jobs', String(availableParallelism() + more)];
  const args = ['--reporter', 'test/support/counting-reporter.cjs', ...jobs, ...extra, ...files];
  return step(title, 'mocha', args, { TEST_TOTALS: totals, TEST_SLOWER: times, NODE_ENV: 'test', ...servers, ...seed });
}

const filesIn = (folder: string, exclude: readonly string[] = []): readonly string[] =>
  longestFirst(globSync(`test/${folder}/**/*.test.ts`, { cwd: root, exclude }));

function longestFirst(files: readonly string[]): readonly string[] {
  const rank = (file: string) => LONGEST.indexOf(basename(file, '.test.ts')) + 1 || LONGEST.length + 1;
  return files.toSorted().sort((one, other) => rank(one) - rank(other));
}

async function main(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'netsvc-upgrade-test-'));
  const totals = join(folder, 'totals');
  try {
    const results = [
      await step('build', 'node', ['build/build.ts']),
      await step('lint', 'biome', ['check', '--error-on-warnings', '.']),
      await step('rooms', 'node', ['build/rooms.ts']),
      await step('types', 'tsc', ['-p', '.']),
      await step('unused', 'knip', []),
      await mocha('fast tests', filesIn('.', ['test/{e2e,full,chaos}/**']), totals),
      await realControlPlane(totals),
    ];
    return await report(totals, results.every(Boolean));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function realControlPlane(totals: string): Promise<boolean> {
  try {
    await resolvePrograms();
  } catch (thrown) {
    notRun.push(`tests on the real control plane: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    return !strict;
  }
  const e2e = await mocha('real control plane', filesIn('e2e'), totals, ['--timeout', '300000'], 4);
  if (!full) {
    notRun.push('every release, variant and sweep: run `npm run test:full`');
    return e2e;
  }
  return (await mocha('full sweeps', filesIn('full'), totals, ['--timeout', '900000'], 1)) && e2e;
}

async function report(file: string, ok: boolean): Promise<number> {
  const lines = existsSync(file) ? (await readFile(file, 'utf8')).trim().split('\n') : [];
  const all = lines.map((line) => JSON.parse(line) as Totals);
  const sum = (pick: (one: Totals) => number) => all.reduce((total, one) => total + pick(one), 0);
  const skipped = all.flatMap((one) => one.skipped);
  process.stdout.write('\n== what did not run, and why\n');
  for (const line of notRun) process.stdout.write(`- ${line}\n`);
  for (const title of skipped) process.stdout.write(`- skipped: ${title}\n`);
  if (notRun.length + skipped.length === 0) process.stdout.write('- nothing: everything ran\n');
  const slowest = all.flatMap(({ tookMs }) => Object.entries(tookMs)).sort(([, a], [, b]) => b - a);
  const longest = slowest.slice(0, 12).map(([name, ms]) => `${name} ${Math.round(ms / 1000)} s`);
  process.stdout.write(`\nlongest: ${longest.join(', ')}\n`);
  const failed = sum((one) => one.failed);
  const tooMany = strict && skipped.length > MOST_SKIPPED;
  if (tooMany) process.stdout.write(`\n${skipped.length} tests were skipped, with CI=true at most ${MOST_SKIPPED} may be\n`);
  const green = ok && failed === 0 && !tooMany;
  process.stdout.write(`\n${green ? 'everything that ran is green' : 'NOT GREEN: see the steps above'}\n`);
  const counts = `${sum((one) => one.passed)} passed, ${failed} failed, ${skipped.length} skipped`;
  process.stdout.write(`${counts}, ${Math.round(performance.now() / 1000)} s\n`);
  return green ? 0 : 1;
}

process.exitCode = await main();
