import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { execa } from 'execa';
import { startControlPlane } from '../test/control-plane/control-plane.ts';
import { NETSVC_FLEET } from '../test/support/hep-services.ts';
import { installedCluster } from '../test/support/installed-cluster.ts';
import { program, surroundingsEnv } from '../test/support/upgrade-process.ts';
import { benchFleet, createFleet } from './hep-fleet.ts';
import { interleave, medianOf, type Sample, sample } from './measure.ts';
import { ratioTable, type Section } from './report.ts';

const [NODES, POLICIES] = [5000, 1000];

/**
 * The same plan beside a server that answers from memory, without a control plane: CPU time and memory are the program's alone, and
 * take a minute instead of a quarter of an hour to measure.
 */
export async function servedHostEndpointPlan(): Promise<Section> {
  const folder = await mkdtemp(join(tmpdir(), 'hep-served-'));
  const { group, release, source, program: cliName } = NETSVC_FLEET;
  const server = execa(process.execPath, [join(import.meta.dirname, 'fleet-server-program.ts'), `${NODES}`, `${POLICIES}`, release, group]);
  try {
    const url = await firstLine(server.stdout);
    const bin = join(folder, 'bin');
    await installTold(bin, cliName, release);
    const kubeconfig = join(folder, 'kubeconfig');
    await writeFile(kubeconfig, kubeconfigOf(url));
    const env = { HOME: folder, KUBECONFIG: kubeconfig, PATH: [bin, process.env.PATH ?? ''].join(delimiter) };
    const args = ['hep', '--dry-run=client', '--profile', 'netsvc', '--release', release, '--manifest-url', source, ...ACCEPTED];
    const command = { program, env };
    const figures = await interleave(
      [
        { name: '`node -e 0`', program: process.execPath, args: ['-e', '0'] },
        { ...command, name: '`hep --dry-run=client`', args },
        { ...command, name: '`hep --dry-run=client -o json`', args: [...args, '-o', 'json'] },
      ],
      5,
    );
    return {
      title: 'Plan of hep beside a server that answers from memory',
      aim: 'at most 3 s of CPU time and 250 MB for 5,000 nodes, 5,000 endpoints and 1,000 policies',
      lines: ratioTable(figures),
    };
  } finally {
    server.kill();
    await server.catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  }
}

const ACCEPTED = ['NS-711', 'NS-712', 'NS-713'].flatMap((id) => ['--accept', id]);

async function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stream })) return line;
  throw new Error('the server ended before it served');
}

export function kubeconfigOf(server: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'bench',
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench' } }],
    clusters: [{ name: 'bench', cluster: { server } }],
    users: [{ name: 'bench', user: {} }],
  });
}

/** The plan of `hep` as a command on a real control plane, beside a bare Node and beside the verdicts alone, which need no cluster. */
export async function hostEndpointPlan(): Promise<Section> {
  const folder = await mkdtemp(join(tmpdir(), 'hep-plan-'));
  const { manifest, group, release, source, program: cliName } = NETSVC_FLEET;
  const cluster = await installedCluster({ manifest, nodes: 1, maxMinutes: 60 });
  try {
    await createFleet(cluster.plane.api, group, benchFleet(NODES, POLICIES));
    const bin = join(folder, 'bin');
    await installTold(bin, cliName, release);
    const alone = await bundled(folder, 'host-endpoints-program.ts');
    const around = surroundingsEnv(cluster.around);
    const args = ['hep', '--dry-run=client', '--profile', 'netsvc', '--release', release, '--manifest-url', source, ...ACCEPTED];
    const figures = await interleave(
      [
        { name: '`node -e 0`', program: process.execPath, args: ['-e', '0'] },
        { name: 'verdicts alone', program: process.execPath, args: [alone, `${NODES}`, `${POLICIES}`] },
        { name: '`hep --dry-run=client`', program, args, env: { ...around, PATH: [bin, around.PATH].join(delimiter) } },
      ],
      5,
    );
    return {
      title: 'Plan of hep',
      aim: 'at most 3 s and 250 MB for 5,000 nodes, 5,000 endpoints and 1,000 policies',
      lines: ratioTable(figures),
    };
  } finally {
    await cluster.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A CLI of the service that tells its release: a plan with the API datastore asks for no more. */
async function installTold(folder: string, name: string, release: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name), `#!/bin/sh\necho "Client Version:    ${release}"\n`, { mode: 0o755 });
}

/** Of both ways; medians. */
const ROUNDS = 3;

/** Labels on nodes by the program's bulk patch, against a shell loop of `kubectl label` (a part of it, multiplied). */
export async function labelCopies(nodes: number, looped: number): Promise<Section> {
  const folder = await mkdtemp(join(tmpdir(), 'label-copies-'));
  // A simulator would follow all these nodes on the cores that the server needs, and is no part of a cluster.
  const plane = await startControlPlane({ maxMinutes: 60, simulated: false });
  try {
    const names = Array.from({ length: nodes }, (_, index) => `bench-${String(index).padStart(5, '0')}`);
    await create(names, (name) =>
      plane.api.send('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { a: 'b' } } }),
    );
    const program = await bundled(folder, 'label-copies-program.ts');
    const env = { KUBECONFIG: plane.kubeconfigPath, PATH: `${join(plane.programs.kubectl, '..')}:${process.env.PATH ?? ''}` };
    const own: Sample[] = [];
    const loop: Sample[] = [];
    // In turns: a slow moment of the machine hits both ways.
    for (let round = 0; round < ROUNDS; round += 1) {
      own.push(await sample({ name: 'bulk patch', program: process.execPath, args: [program, `bench/role-${round}`], env }));
      const script = `for n in ${names.slice(0, looped).join(' ')}; do kubectl label node $n loop-${round}=yes >/dev/null; done`;
      loop.push(await sample({ name: 'loop', program: '/bin/sh', args: ['-c', script], env }));
    }
    const bulk = medianOf(own);
    const whole = (medianOf(loop).wallMs / looped) * nodes;
    const seconds = (ms: number) => (ms / 1000).toFixed(1);
    return {
      title: 'Labels on nodes',
      aim: 'at least 50 times as fast as a loop of kubectl label',
      lines: [
        '| nodes | bulk patch, s | loop of `kubectl label`, s | ratio | peak MiB |',
        '|---|---|---|---|---|',
        `| ${nodes} | ${seconds(bulk.wallMs)} | ${seconds(whole)} (from ${ROUNDS} × ${looped}) | ${(whole / bulk.wallMs).toFixed(0)}× | ${bulk.peakMiB.toFixed(0)} |`,
      ],
    };
  } finally {
    await plane.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function create(names: readonly string[], make: (name: string) => Promise<unknown>): Promise<void> {
  const queue = names[Symbol.iterator]();
  const worker = async () => {
    for (const name of queue) await make(name);
  };
  await Promise.all(Array.from({ length: 24 }, worker));
}

/** As it is shipped: type stripping would count otherwise. */
async function bundled(folder: string, entry: string): Promise<string> {
  const banner = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";
  await build({
    entryPoints: [join(import.meta.dirname, entry)],
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: { js: banner },
    outfile: join(folder, 'program.mjs'),
    logLevel: 'error',
  });
  return join(folder, 'program.mjs');
}
