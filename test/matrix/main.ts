import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { resolvePrograms } from '../control-plane/binaries.ts';
import type { Programs } from '../control-plane/build-plan.ts';
import { type HelmMajor, resolveHelm } from '../helm/programs.ts';
import { type ChartCluster, chartCluster, flagsOf } from '../support/chart-cluster.ts';
import { type InstalledCluster, installedCluster } from '../support/installed-cluster.ts';
import { manifestFile, ownReleases } from '../support/releases.ts';
import { surroundingsEnv } from '../support/upgrade-process.ts';
import { builtKubernetes, type Found, findControlPlanes, findKubectls, findNodes } from './find-programs.ts';
import { type ChartResult, compatibilityPage, type Result } from './page.ts';

/**
 * `npm run test:matrix`: a whole upgrade in every combination of Kubernetes and kubectl that this machine has, and with every Node;
 * `--write` records it in docs/reference/compatibility.md.
 */
const root = join(import.meta.dirname, '..', '..');
const SOURCE = ['--manifest-url', ownReleases];

interface Combination {
  readonly server: Found<Programs>;
  readonly kubectl: Found<string>;
  readonly node: Found<string>;
}

async function main(): Promise<number> {
  const programs = await resolvePrograms();
  const built = await builtKubernetes(programs);
  const servers = await findControlPlanes([programs, ...built]);
  const nodes = await findNodes();
  const results: Result[] = [];
  const charts: ChartResult[] = [];
  for (const server of servers) {
    const kubectls = await findKubectls([server.what, programs, ...built].map(({ kubectl }) => kubectl));
    const [usual] = nodes;
    const newest = kubectls.at(-1);
    if (!usual || !newest) continue;
    const others = nodes.slice(1).map((node): Combination => ({ server, kubectl: newest, node }));
    for (const one of [...kubectls.map((kubectl): Combination => ({ server, kubectl, node: usual })), ...others]) {
      const result = await tried(one);
      const place = `Kubernetes ${result.server}, kubectl ${result.kubectl}, Node ${result.node}`;
      process.stdout.write(`${place}: ${result.problem ?? 'upgrades'} ${result.notes.join(', ')}\n`);
      results.push(result);
    }
    for (const major of [3, 4] as const) {
      const chart = await triedChart(server, major);
      process.stdout.write(`Kubernetes ${chart.server}, helm ${chart.helm}: ${chart.problem ?? 'upgrades'}\n`);
      charts.push(chart);
    }
  }
  const page = compatibilityPage({ date: new Date().toISOString().slice(0, 10), results, charts });
  process.stdout.write(`\n${page}`);
  if (process.argv.includes('--write')) await writeFile(join(root, 'docs', 'reference', 'compatibility.md'), page);
  return results.length > 0 && [...results, ...charts].every(({ problem }) => problem === undefined) ? 0 : 1;
}

/** The chart's release, up to the end of `apply`: no operator plays here. */
async function triedChart(server: Found<Programs>, major: HelmMajor): Promise<ChartResult> {
  let cluster: ChartCluster | undefined;
  let head = { server: server.version, helm: `v${major}` };
  try {
    const helm = await resolveHelm(major);
    head = { ...head, helm: (await execa(helm, ['version', '--template', '{{.Version}}'])).stdout.trim() };
    cluster = await chartCluster(helm, { plane: { programs: server.what } });
    const args = ['run', '--yes', '--from', 'crds', '--through', 'apply', ...flagsOf(cluster), '-o', 'json'];
    const { upgrade } = cluster;
    return { ...head, ...(await ranTwice(() => upgrade(...args))) };
  } catch (thrown) {
    return { ...head, problem: shortened((thrown as Error).message) };
  } finally {
    await cluster?.stop();
  }
}

interface Ended {
  readonly exitCode?: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** A second run has nothing to do. */
async function ranTwice(run: () => Promise<Ended>): Promise<{ readonly problem?: string }> {
  for (const title of ['run', 'a second run']) {
    const { exitCode, stdout, stderr } = await run();
    if (exitCode !== 0) return { problem: `${title} exits ${exitCode}: ${shortened(stderr)}` };
    const { writes } = JSON.parse(stdout) as { readonly writes: number };
    if (title === 'a second run' && writes > 0) return { problem: `a second run writes ${writes} times` };
  }
  return {};
}

async function tried({ server, kubectl, node }: Combination): Promise<Result> {
  const head = { server: server.version, kubectl: kubectl.version, node: node.version };
  let cluster: InstalledCluster | undefined;
  try {
    cluster = await installedCluster({ manifest: manifestFile('v3.26.4', 'netsvc.yaml', ownReleases), nodes: 1, programs: server.what });
    // Programs look for `kubectl`, whatever it is called here.
    const link = join(cluster.around.home, 'kubectl');
    await symlink(kubectl.what, link);
    return { ...head, ...(await upgraded({ ...cluster.around, kubectl: link }, node.what)) };
  } catch (thrown) {
    return { ...head, problem: shortened((thrown as Error).message), notes: [] };
  } finally {
    await cluster?.stop();
  }
}

/** preflight, run, and a run that has nothing to do. */
async function upgraded(around: Parameters<typeof surroundingsEnv>[0], node: string): Promise<Pick<Result, 'problem' | 'notes'>> {
  const call = (...args: readonly string[]) =>
    execa(node, [join(root, 'dist', 'cli', 'main.js'), ...args, ...SOURCE], {
      reject: false,
      extendEnv: false,
      env: surroundingsEnv(around),
      stdin: 'ignore',
    });
  const looked = await call('preflight', '-o', 'json');
  const notes = clientNotes(looked.stdout);
  if (looked.exitCode !== 0) return { problem: `preflight exits ${looked.exitCode}: ${shortened(looked.stderr || notes.join())}`, notes };
  return { notes, ...(await ranTwice(() => call('run', '--yes', '--skip', 'cli', '-o', 'json'))) };
}

/** Findings about the versions of kubectl and of the server. */
function clientNotes(text: string): readonly string[] {
  try {
    const { findings } = JSON.parse(text) as { findings: readonly { id: string; outcome: string }[] };
    return findings.filter(({ id, outcome }) => /^NS-00[2345]$/.test(id) && outcome !== 'ok').map(({ id, outcome }) => `${id} ${outcome}`);
  } catch {
    return [];
  }
}

function shortened(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ').slice(0, 120);
}

process.exitCode = await main();
