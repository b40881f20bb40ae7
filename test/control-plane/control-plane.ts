import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { connect } from './api.ts';
import { type Programs, resolvePrograms } from './binaries.ts';
import { freePorts } from './free-ports.ts';
import { writeKeys } from './keys.ts';
import { filesOf, storeUrl } from './layout.ts';
import { createNodes, type NodeOptions, setFault } from './nodes.ts';
import { type PartOptions, simulations, startApiServer, startControllerManager, startScheduler, startStore } from './parts.ts';
import { type Processes, superviseProcesses } from './processes.ts';
import type { NodeFault } from './stages.ts';

export interface ControlPlaneOptions extends PartOptions {
  /** Where the programs are; looked up, and built if need be, unless said. */
  readonly programs?: Programs;
  /** After so many minutes everything is ended, whatever happens; 30 unless said. */
  readonly maxMinutes?: number;
  /** False: nodes are simulated from the first `addNodes` on. A simulator follows every node of the cluster, simulated or not. */
  readonly simulated?: boolean;
  /** Folder for everything, which must not exist yet; a temporary one unless said. It is removed at the end. */
  readonly dir?: string;
}

/** A real API server with its controllers, and simulated nodes. Everything listens on loopback and ends with `stop`. */
export type ControlPlane = Awaited<ReturnType<typeof start>>;

const MOST_OUTPUT = 200_000_000;

/** Between the choice of ports and their use another program can take one. */
const TAKEN = /address already in use/;

/** Starts a control plane of its own; several can run at once. Throws with the log's end if a part does not come up. */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const programs = options.programs ?? (await resolvePrograms());
  return tryStart(programs, options).catch((thrown: unknown) => {
    if (!TAKEN.test(String(thrown))) throw thrown;
    return tryStart(programs, options);
  });
}

async function tryStart(programs: Programs, options: ControlPlaneOptions): Promise<ControlPlane> {
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 'netsvc-upgrade-control-plane-')));
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const processes = await superviseProcesses(dir, options.maxMinutes ?? 30);
  try {
    return await start(programs, dir, processes, options);
  } catch (thrown) {
    await processes.stopAll();
    throw thrown;
  }
}

async function start(programs: Programs, dir: string, processes: Processes, options: ControlPlaneOptions) {
  const [etcd = 0, etcdPeer = 0, apiServerPort = 0, managerPort = 0, scheduler = 0] = await freePorts(5);
  const layout = { dir, ports: { etcd, etcdPeer, apiServer: apiServerPort, controllerManager: managerPort, scheduler } };
  const files = filesOf(dir);
  const access = await writeKeys(layout, options.audit === 'requests');
  const api = connect(access);
  const ground = { processes, programs, layout, options };
  await startStore(ground);
  let apiServer = await startApiServer(ground, api);
  const simulate = simulations(ground);
  const rest = [startControllerManager(ground), startScheduler(ground), options.simulated === false || simulate('none')] as const;
  let [controllerManager] = await Promise.all(rest);
  const kubectl = async (args: readonly string[], stdin?: string) => {
    const input = stdin === undefined ? { stdin: 'ignore' as const } : { input: stdin };
    const env = { KUBECONFIG: files.kubeconfig };
    const result = await execa(programs.kubectl, args, { env, reject: false, maxBuffer: MOST_OUTPUT, ...input });
    return { exitCode: result.exitCode ?? -1, stdout: String(result.stdout), stderr: String(result.stderr) };
  };
  const fault = async (node: string, kind: NodeFault, mayEnd = true): Promise<void> => {
    const simulation = await simulate(kind);
    await setFault(api, node, kind).catch(async (thrown: unknown) => {
      // kwok 0.8 rarely ends while it first evaluates its stages, which two of its workers do at once: it is started again, once.
      if (mayEnd && simulation.ended()) return fault(node, kind, false);
      throw new Error(`${String(thrown)}\n${simulation.name}${simulation.ended() ? ' has ended' : ''}: ${await simulation.tail()}`);
    });
  };
  return {
    dir,
    programs,
    access,
    api,
    server: access.server,
    /** Of an administrator (group system:masters). */
    kubeconfigPath: files.kubeconfig,
    /** Lines of JSON (audit.k8s.io/v1), with the option `audit`. */
    auditLog: files.auditLog,
    /** Socket of the services' network, with the option `clusterNetwork`. */
    clusterNetwork: files.clusterNetwork,
    /** URL of etcd, which answers without certificates. */
    store: storeUrl(layout),
    /** Runs kubectl on this control plane; a failure is an exit code, not an exception. */
    kubectl,
    /** `kubectl apply -f`, as a person once installed; what the server refuses is in the result. */
    apply: (file: string) => kubectl(['apply', '-f', file]),
    async addNodes(count: number, nodeOptions: NodeOptions = {}) {
      await simulate(nodeOptions.fault ?? 'none');
      return createNodes(api, count, nodeOptions);
    },
    /** Makes sure that the simulation of a fault runs: nodes that get its label are its own from then on. */
    simulate,
    /** Puts a node under a fault; `none` frees it, and its stuck pods go on to be ready. */
    fault: (node: string, kind: NodeFault) => fault(node, kind),
    /** Ends kube-controller-manager and starts it anew, as a control plane's upgrade does. */
    async restartControllerManager() {
      await controllerManager.stop();
      controllerManager = await startControllerManager(ground);
    },
    /** Ends kube-apiserver and nothing else; at once, as a crash does, with no grace time. */
    apiServerDown: (graceMs?: number) => apiServer.stop(graceMs),
    /** Starts it anew on the same port and data. */
    async apiServerUp() {
      apiServer = await startApiServer(ground, api);
    },
    async stop() {
      api.close();
      await processes.stopAll();
    },
  };
}
