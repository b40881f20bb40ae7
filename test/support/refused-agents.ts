import { setTimeout as pause } from 'node:timers/promises';
import type { Api, ApiObject } from '../control-plane/api.ts';
import { type Played, play } from '../control-plane/played.ts';
import { isReady } from './real-operator.ts';

/** Typha of this release and newer refuses older agents. */
const SINCE_MINOR = 32;
const PODS = '/api/v1/namespaces/calico-system/pods';
const NEVER = '3600s';

/**
 * Plays what becomes of agents whose Typha refuses them: they turn not ready a while after the last Typha that took them is gone.
 * Counts the agents that are ready, all the time.
 */
export function playRefusedAgents(api: Api, afterMs: number) {
  const pods = new Map<string, ApiObject>();
  let lowest = Number.POSITIVE_INFINITY;
  let refusedAt: number | undefined;
  const of = (app: string) => [...pods.values()].filter(({ metadata }) => metadata.labels?.['k8s-app'] === app);
  const look = () => {
    lowest = Math.min(lowest, of('calico-node').filter(isReady).length);
    const typhas = of('calico-typha').filter(isReady);
    const alone = typhas.length > 0 && typhas.every((pod) => !isOld(pod));
    refusedAt = alone ? (refusedAt ?? Date.now()) : undefined;
  };
  const refuse = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      await pause(200, undefined, { signal }).catch(() => undefined);
      if (refusedAt === undefined || Date.now() - refusedAt < afterMs) continue;
      await Promise.all(
        of('calico-node')
          .filter((pod) => isOld(pod) && isReady(pod))
          .map((pod) => turnNotReady(api, pod)),
      );
    }
  };
  const following = play((signal) => {
    const gone = (pod: ApiObject) => {
      pods.delete(pod.metadata.name);
      look();
    };
    const seen = (pod: ApiObject) => {
      pods.set(pod.metadata.name, pod);
      look();
    };
    return Promise.all([api.follow(PODS, seen, signal, gone), refuse(signal)]);
  });
  return {
    /** Counts anew from now on. */
    begin() {
      lowest = Number.POSITIVE_INFINITY;
      look();
    },
    /** The fewest agents that were ready at once. */
    lowest: () => lowest,
    stop: following.stop,
  } satisfies Played & { begin(): void; lowest(): number };
}

function isOld(pod: ApiObject): boolean {
  const [image = ''] = (pod as unknown as { spec: { containers: { image: string }[] } }).spec.containers.map((one) => one.image);
  const [, minor = 0] = (/:v3\.(\d+)\./.exec(image) ?? []).map(Number);
  return minor < SINCE_MINOR;
}

/** The simulation of nodes would make it ready again. */
async function turnNotReady(api: Api, pod: ApiObject): Promise<void> {
  const path = `${PODS}/${pod.metadata.name}`;
  const { conditions } = pod.status as { readonly conditions: readonly Readonly<Record<string, unknown>>[] };
  const changed = conditions.map((one) =>
    /Ready$/.test(String(one.type)) && one.type !== 'PodReadyToStartContainers' ? { ...one, status: 'False' } : one,
  );
  const gone = () => undefined;
  await api.send('PATCH', path, { metadata: { annotations: { 'netsvc-upgrade.test/ready-after': NEVER } } }).catch(gone);
  await api.send('PATCH', `${path}/status`, { status: { conditions: changed } }).catch(gone);
}
