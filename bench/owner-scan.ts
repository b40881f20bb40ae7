import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { execa } from 'execa';
import { type ControlPlane, startControlPlane } from '../test/control-plane/control-plane.ts';
import { type Command, interleave, ratioTable, type Section } from './measure.ts';
import { fillCluster, ownedOf } from './owner-fill.ts';

/** A first look at a part of the objects: memory must not grow with their number. */
const FEWER = 5;
const GO_FOLDER = join(import.meta.dirname, 'go-owner-scan');

/**
 * The search for owner references against client-go's metadata client and against kubectl with jq, on a real API server.
 * BENCH_KUBECONFIG names a cluster that is filled already; without it one is started and filled, which takes some minutes.
 */
export async function ownerScan(objects: number): Promise<Section> {
  const folder = await mkdtemp(join(tmpdir(), 'owner-scan-'));
  const given = process.env.BENCH_KUBECONFIG;
  const plane = given === undefined ? await startControlPlane({ maxMinutes: 60, profiled: true }) : undefined;
  try {
    const env = { KUBECONFIG: given ?? plane?.kubeconfigPath ?? '', PATH: process.env.PATH ?? '' };
    const [go, ours] = [await goPrograms(folder, env), await ourProgram(folder, env)];
    const fill = async (to: number, from: number) => plane && fillCluster((path, object) => plane.api.send('POST', path, object), to, from);
    const few = Math.floor(objects / FEWER);
    await fill(few, 0);
    const settled = plane && (() => collected(plane));
    const fewer = plane
      ? await interleave([{ ...ours, name: `the same on ${few} objects`, prints: String(ownedOf(few)) }], 9, settled)
      : [];
    await fill(objects, few);
    const prints = plane ? String(ownedOf(objects)) : (await execa(ours.program, ours.args, { env })).stdout;
    const figures = await interleave(
      [...go, ours].map((one) => ({ ...one, prints })),
      9,
      settled,
    );
    const shell = await interleave([{ ...(await kubectlAndJq(env)), prints }], 1, settled);
    return { title: 'Search for owner references', aim: AIM, lines: ratioTable([...figures, ...fewer, ...shell]) };
  } finally {
    await plane?.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const AIM =
  'at least three times as fast as client-go, twice with pages of 4,000, 60 times as fast as kubectl and jq, at most 120 MB, on 100,000 objects';

/** What one program leaves to the API server's garbage collector would fall into the time of the next: it is collected between them. */
async function collected(plane: ControlPlane): Promise<void> {
  const { exitCode, stderr } = await plane.kubectl(['get', '--raw', '/debug/pprof/heap?gc=1&debug=1']);
  if (exitCode !== 0) throw new Error(`the API server collects no garbage when asked: ${stderr}`);
}

type Env = Readonly<Record<string, string>>;

/** With the pages of client-go's own pager, and with the largest of ours. Nothing where there is no Go compiler: the table begins with our own program then. */
async function goPrograms(folder: string, env: Env): Promise<readonly Command[]> {
  const program = join(folder, 'go-owner-scan');
  const built = await execa('go', ['build', '-o', program, '.'], { cwd: GO_FOLDER, reject: false });
  if (built.exitCode !== 0) return [];
  return [500, 4000].map((page) => {
    return { name: `Go, client-go metadata client, pages of ${page}`, program, args: [], env: { ...env, PAGE_SIZE: String(page) } };
  });
}

/** Bundled, as it is shipped: type stripping would count otherwise. */
async function ourProgram(folder: string, env: Env): Promise<Command> {
  await build({
    entryPoints: [join(import.meta.dirname, 'owner-scan-program.ts')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    splitting: true,
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    logLevel: 'error',
  });
  // With the limit that the start script sets.
  const args = ['--max-semi-space-size=4', join(folder, 'owner-scan-program.mjs')];
  return { name: 'this program’s search', program: process.execPath, args, env };
}

async function kubectlAndJq(env: Env): Promise<Command> {
  const { stdout } = await execa('kubectl', ['api-resources', '--verbs=list', '-o', 'name'], { env: { ...env } });
  const kinds = stdout.split('\n').filter((kind) => !/^(events|componentstatuses)/.test(kind));
  const filter = '[.items[].metadata.ownerReferences[]?|select(.apiVersion|startswith("projectcalico.org/"))]|length';
  const script = `kubectl get ${kinds.join(',')} -A -o json | jq '${filter}'`;
  return { name: '`kubectl get -A -o json \\| jq`', program: 'sh', args: ['-c', script], env };
}
