import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../../src/kernel/fault.ts';
import { ApiFailure } from '../../src/kernel/ports.ts';
import { unlessGone } from '../control-plane/api.ts';
import { type FaultProxy, startFaultProxy } from '../control-plane/fault-proxy.ts';
import type { GroundOptions, SweepGround } from './describe-sweep.ts';
import { opened } from './installed-cluster.ts';
import { type OwnedPlane, ownedPlane } from './owned-cluster.ts';
import { withJournal } from './owner-graph.ts';
import type { Surroundings } from './upgrade-process.ts';

/** Objects whose references are swept. */
export const DEPENDENTS = 10;

export interface ProxiedPlane extends OwnedPlane {
  readonly proxy: FaultProxy;
  /** It leads through the proxy. */
  readonly around: Surroundings;
  /** No journal, no record and no lock of a run in the cluster any more, and nothing on this machine: the next fault meets what the first one met. */
  forgetRun(): Promise<void>;
}

/** A ground of a sweep, with a proxy between the program and the control plane. */
export function proxiedGround(
  sweeping: (ground: ProxiedPlane) => Promise<SweepGround>,
  { maxMinutes }: GroundOptions,
): Promise<SweepGround> {
  return opened(async (endBy) => {
    const owned = await ownedPlane(DEPENDENTS, { maxMinutes });
    endBy(owned.stop);
    const { access, dir, api, programs } = owned.plane;
    const proxy = await startFaultProxy({ behind: access, kubeconfigPath: join(dir, 'proxy.kubeconfig'), bodies: true, maxMinutes });
    endBy(proxy.stop);
    const around = { home: join(dir, 'home'), kubeconfig: proxy.kubeconfigPath, kubectl: programs.kubectl };
    const forgetRun = async () => {
      await withJournal(owned.plane, (journal) => journal.forget());
      for (const path of TRACES) await api.send('DELETE', path).catch(unlessGone);
      await emptied(around.home);
    };
    await emptied(around.home);
    return sweeping({ ...owned, proxy, around, forgetRun });
  });
}

const TRACES = [
  '/api/v1/namespaces/kube-system/secrets/netsvc-upgrade-run',
  '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/netsvc-upgrade',
];

/** A folder that is there, with nothing in it. */
export async function emptied(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
}

/** A refusal, an answer that never came, or a person's next step; anything else is a defect. */
export function expected(thrown: unknown): false {
  if (thrown instanceof ApiFailure || thrown instanceof Fault) return false;
  throw thrown;
}
