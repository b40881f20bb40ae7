import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isServed, register } from '../control-plane/aggregation.ts';
import { createAuthority } from '../control-plane/certificates.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { freePorts } from '../control-plane/free-ports.ts';
import { until } from '../control-plane/until.ts';

/** In case nobody ends it. */
const LIMIT_S = 900;

/** The service's own API server beside a control plane, one program after the other on one port. */
export class RealApiServer {
  readonly #plane: ControlPlane;
  readonly #folder: string;
  readonly #port: number;
  readonly #group: string;
  #child: ChildProcess | undefined;

  private constructor(plane: ControlPlane, folder: string, port: number, group: string) {
    [this.#plane, this.#folder, this.#port, this.#group] = [plane, folder, port, group];
  }

  static async register(plane: ControlPlane, group: string): Promise<RealApiServer> {
    const folder = join(plane.dir, 'real-api');
    await mkdir(folder, { recursive: true });
    const { certificate, key } = createAuthority('real-api').issue({ commonName: 'real-api', hosts: ['localhost', '127.0.0.1'] });
    await writeFile(join(folder, 'tls.crt'), certificate);
    await writeFile(join(folder, 'tls.key'), key, { mode: 0o600 });
    const [port = 0] = await freePorts(1);
    await register(plane.api, { group, port, namespace: 'kube-system', service: 'real-api' });
    return new RealApiServer(plane, folder, port, group);
  }

  /** Ends the program that serves, and has this one serve. */
  async serve(program: string): Promise<void> {
    await this.stop();
    const { kubeconfigPath: kubeconfig } = this.#plane;
    const args = [
      ...[`--secure-port=${this.#port}`, '--bind-address=127.0.0.1', '--audit-log-path=-'],
      ...['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig'].map((flag) => `--${flag}=${kubeconfig}`),
      ...[`--tls-cert-file=${join(this.#folder, 'tls.crt')}`, `--tls-private-key-file=${join(this.#folder, 'tls.key')}`],
    ];
    const env = { PATH: process.env.PATH, HOME: this.#folder, DATASTORE_TYPE: 'kubernetes', KUBECONFIG: kubeconfig };
    const child = spawn('timeout', [String(LIMIT_S), program, ...args], { env, cwd: this.#folder, stdio: ['ignore', 'pipe', 'pipe'] });
    await once(child, 'spawn');
    const log = createWriteStream(join(this.#folder, 'log'), { flags: 'a' });
    for (const stream of [child.stdout, child.stderr]) stream?.pipe(log, { end: false });
    this.#child = child;
    const isOver = () => child.exitCode !== null;
    await until(`${program} serves`, async () => isOver() || (await isServed(this.#plane.api, this.#group)), 120_000);
    if (isOver()) throw new Error(`${program} ended: ${(await readFile(join(this.#folder, 'log'), 'utf8')).slice(-2000)}`);
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
    // Only then does it say something of whoever serves next.
    await until('nobody serves', async () => !(await isServed(this.#plane.api, this.#group).catch(() => false)));
  }
}
