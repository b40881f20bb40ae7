import { K } from '../kernel/kinds.ts';
import type { Kind } from '../kernel/object.ts';
import { reconcileDaemonSet } from './daemon-sets.ts';
import { reconcileDeployment } from './deployments.ts';
import { startKubelets, type WorkloadDeps } from './kubelets.ts';

/** A controller looks this long after a change. */
const REACT_MS = 100;

const CONTROLLERS = [
  [K.DaemonSet, reconcileDaemonSet],
  [K.Deployment, reconcileDeployment],
] as const;

/** The controllers of DaemonSets and Deployments, and the kubelets: everything that works on pods. */
export function startWorkloads(deps: WorkloadDeps): void {
  startKubelets(deps);
  let waiting = false;
  const watched = new Set([K.DaemonSet, K.Deployment, K.Pod, K.Node].map((kind: Kind) => kind.plural));
  deps.store.listen(({ kind }) => {
    if (waiting || !watched.has(kind.plural)) return;
    waiting = true;
    deps.clock.schedule(REACT_MS, () => {
      waiting = false;
      for (const [kindOf, reconcile] of CONTROLLERS) {
        for (const workload of deps.store.list(kindOf)) reconcile(deps, workload);
      }
      removeOrphans(deps);
    });
  });
}

/** The garbage collector: pods whose workload is gone go as well. */
function removeOrphans({ store }: WorkloadDeps): void {
  const owners = new Set(CONTROLLERS.flatMap(([kind]) => store.list(kind).map(({ metadata }) => metadata.uid)));
  for (const pod of store.list(K.Pod)) {
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller);
    if (owner && ['DaemonSet', 'Deployment'].includes(owner.kind) && !owners.has(owner.uid)) store.markDeleted(K.Pod, pod);
  }
}
