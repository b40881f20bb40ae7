import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import type { ApiList, ApiObject } from '../control-plane/api.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { type Played, playByLooking } from '../control-plane/played.ts';

/** In case nobody ends it. */
const LIMIT_S = 1_800;
const LOOK_EVERY_MS = 500;
const PODS = '/api/v1/namespaces/tigera-operator/pods';

/** Operator image tag → its program. */
export type OperatorPrograms = Readonly<Record<string, string>>;

/**
 * Plays the kubelet of the operator: while a pod of its Deployment is ready, the real program of that pod's image runs, with its arguments
 * and an administrator's rights. A process that ends is started again.
 */
export function runOperators(plane: ControlPlane, programs: OperatorPrograms): Played {
  const running = new Map<string, ChildProcess>();
  const looking = playByLooking(LOOK_EVERY_MS, async () => {
    const ready = new Map((await plane.api.get<ApiList>(PODS)).items.filter(isReady).map((pod) => [pod.metadata.name, pod]));
    for (const [name, child] of running) {
      if (!ready.has(name)) await end(child);
      if (child.exitCode !== null || child.signalCode !== null) running.delete(name);
    }
    for (const [name, pod] of ready) if (!running.has(name)) running.set(name, start(plane, pod, programs));
  });
  return {
    async stop() {
      await looking.stop();
      await Promise.all([...running.values()].map(end));
    },
  };
}

interface OperatorPod {
  readonly spec: { readonly containers: readonly [{ readonly image: string; readonly args?: readonly string[] }] };
}

function start({ dir, kubeconfigPath }: ControlPlane, pod: ApiObject, programs: OperatorPrograms): ChildProcess {
  const [{ image, args = [] }] = (pod as unknown as OperatorPod).spec.containers;
  const program = programs[image.split(':').at(-1) ?? ''];
  if (program === undefined) throw new Error(`no program for ${image}`);
  const env = { PATH: process.env.PATH, HOME: dir, KUBECONFIG: kubeconfigPath, OPERATOR_NAMESPACE: 'tigera-operator' };
  const command = [String(LIMIT_S), program, ...args, '-enable-leader-election=false'];
  const child = spawn('timeout', command, { env, cwd: dir, stdio: ['ignore', 'pipe', 'pipe'] });
  const log = createWriteStream(join(dir, `${pod.metadata.name}.log`), { flags: 'a' });
  for (const stream of [child.stdout, child.stderr]) stream?.pipe(log, { end: false });
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

interface Conditioned {
  readonly status?: { readonly conditions?: readonly Readonly<Record<string, unknown>>[] };
}

/** Its containers run and are ready, and it is not being deleted. */
export function isReady(pod: ApiObject): boolean {
  const { conditions = [] } = (pod as unknown as Conditioned).status ?? {};
  return pod.metadata.deletionTimestamp === undefined && conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}
