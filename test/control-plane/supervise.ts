/** The process in the background that owns one control plane. Argument: a `Task` as JSON. */
import { join } from 'node:path';
import type { UpOptions } from './arguments.ts';
import type { Programs } from './binaries.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { findManifest, installManifest } from './install.ts';
import { CALICO, NETSVC, simulateService } from './service-simulator.ts';
import { FAULT_LABEL, isNodeFault } from './stages.ts';
import { forget, stateFolder, writeState } from './state.ts';

interface Task {
  readonly name: string;
  readonly programs: Programs;
  readonly options: UpOptions;
}

const MINUTE_MS = 60_000;

async function main({ name, programs, options }: Task): Promise<void> {
  const ending = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => ending.abort());
  setTimeout(() => ending.abort(), options.maxMinutes * MINUTE_MS);
  const state = { name, pid: process.pid, endsAt: new Date(Date.now() + options.maxMinutes * MINUTE_MS).toISOString() };
  await writeState(state);
  const dir = join(stateFolder(), name);
  const { maxMinutes, readyAfterMs, audit } = options;
  const controlPlane = await startControlPlane({ programs, dir, maxMinutes: maxMinutes + 1, readyAfterMs, audit });
  try {
    const { kubeconfigPath: kubeconfig, server } = controlPlane;
    say(`kube-apiserver answers at ${server}`);
    await populate(controlPlane, options);
    await writeState({ ...state, kubeconfig, server });
    await serve(controlPlane, options, ending.signal);
  } finally {
    await controlPlane.stop();
  }
  await forget(name);
}

/** To the log, which `up` shows. */
const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function populate(controlPlane: ControlPlane, options: UpOptions): Promise<void> {
  await controlPlane.addNodes(options.nodes);
  say(`${options.nodes} nodes are Ready`);
  if (options.install === undefined) return;
  const file = findManifest(options);
  for (const line of await installManifest(controlPlane, file)) say(`kubectl: ${line}`);
  say(`${file} is installed; every pod runs`);
}

/** Plays the agents, and starts the simulation of any fault that a person puts on a node with a label. */
async function serve(controlPlane: ControlPlane, { profile }: UpOptions, signal: AbortSignal): Promise<void> {
  const service = simulateService(controlPlane.api, profile === 'calico' ? CALICO : NETSVC);
  await controlPlane.api.follow(
    '/api/v1/nodes',
    (node) => {
      const fault = node.metadata.labels?.[FAULT_LABEL];
      if (isNodeFault(fault)) void controlPlane.simulate(fault);
    },
    signal,
  );
  await service.stop();
}

await main(JSON.parse(process.argv[2] ?? '{}') as Task);
process.exit();
