import { openCluster } from '../../src/adapters/kube/cluster.ts';
import { readConnection } from '../../src/adapters/kubeconfig/kubeconfig.ts';

/** Between one answer and the next question; milliseconds. */
const PAUSE_MS = 20;

/** Somebody else who reads one object after the other; `end` tells how long each answer took, in milliseconds. */
export function bystander(kubeconfig: string, as?: string): { end(): Promise<readonly number[]> } {
  let isOver = false;
  const reading = (async () => {
    const connection = await readConnection({ kubeconfig, ...(as === undefined ? {} : { as }) }, process.env);
    const cluster = openCluster(connection, { version: 'test' });
    const took: number[] = [];
    while (!isOver) {
      const at = performance.now();
      await cluster.raw('/api/v1/namespaces/default');
      took.push(performance.now() - at);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    await cluster.close();
    return took;
  })();
  return {
    end: () => {
      isOver = true;
      return reading;
    },
  };
}
