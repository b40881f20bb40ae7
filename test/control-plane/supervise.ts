/** The process in the background that owns one control plane. Argument: a `Task` as JSON. */
import { join } from 'node:path';
import type { UpOptions } from './arguments.ts';
import type { Programs } from './binaries.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { findManifest, installManifest } from './install.ts';
import { CALICO, NETSVC, simulateService } from './service-simulator.ts';
import { FAULT_LABEL, isNodeFault } from './stages.ts';
import { forget, type State, stateFolder, writeState } from './state.ts';

export interface Task {
  readonly name: string;
  readonly programs: Programs;
  readonly options: UpOptions;
}

const MINUTE_MS = 60_000;

async function main({ name, programs, options }: Task): Promise<void> {
  const ending = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => ending.abort());
  setTimeout(() => ending.abort(), options.maxMinutes * MINUTE_MS);
  let state: State = {
    name,
    pid: process.pid,
    phase: 'starting',
    steps: [],
    endsAt: new Date(Date.now() + options.maxMinutes * MINUTE_MS).toISOString(),
  };
  const say = async (more: Partial<State>, step?: string) => {
    state = { ...state, ...more, ...(step === undefined ? {} : { steps: [...state.steps, step] }) };
    await writeState(state);
  };
  await say({});
  const dir = join(stateFolder(), name);
  const { maxMinutes, readyAfterMs, audit } = options;
  const controlPlane = await startControlPlane({ programs, dir, maxMinutes: maxMinutes + 1, readyAfterMs, audit });
  try {
    const { kubeconfigPath: kubeconfig, server } = controlPlane;
    await say({ kubeconfig, server }, `kube-apiserver answers at ${server}`);
    await populate(controlPlane, options, (step) => say({}, step));
    await say({ phase: 'running' });
    await serve(controlPlane, options, ending.signal);
  } catch (thrown) {
    await say({ phase: 'failed', problem: String(thrown) });
    throw thrown;
  } finally {
    await controlPlane.stop();
  }
  await forget(name);
}

async function populate(controlPlane: ControlPlane, options: UpOptions, say: (step: string) => Promise<void>): Promise<void> {
  await controlPlane.addNodes(options.nodes);
  await say(`${options.nodes} nodes are Ready`);
  if (options.install === undefined) return;
  const file = findManifest(options);
  const refused = await installManifest(controlPlane, file);
  for (const line of refused) await say(`kubectl: ${line}`);
  await say(`${file} is installed; every pod runs`);
}

/** Plays the agents, and starts the simulation of any fault that a person puts on a node with a label. */
async function serve(controlPlane: ControlPlane, { profile }: UpOptions, signal: AbortSignal): Promise<void> {
  const service = simulateService(controlPlane.api, profile === 'calico' ? CALICO : NETSVC);
  await controlPlane.api.follow(
    '/api/v1/nodes',
    (node) => {
      const { labels = {} } = node.metadata as { labels?: Record<string, string> };
      const fault = labels[FAULT_LABEL];
      if (isNodeFault(fault)) void controlPlane.simulate(fault);
    },
    signal,
  );
  await service.stop();
}

await main(JSON.parse(process.argv[2] ?? '{}') as Task);
process.exit();
