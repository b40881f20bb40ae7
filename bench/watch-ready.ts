import type { Api, ApiObject } from '../test/control-plane/api.ts';

/** When this process saw the last pod of a DaemonSet become ready, and its controller count the last one; ms since the epoch. */
export interface ReadyTimes {
  readonly lastReady: number;
  readonly lastCounted: number;
}

/** Follows pods and DaemonSet by watches of its own: the times of the API are whole seconds. */
export function watchReady(api: Api, namespace: string, name: string): { seen(): ReadyTimes; stop(): Promise<void> } {
  const end = new AbortController();
  const ready = new Set<string>();
  const times = { lastReady: 0, lastCounted: 0 };
  let counts = '';
  const pods = api.follow(
    `/api/v1/namespaces/${namespace}/pods?labelSelector=k8s-app%3D${name}`,
    (pod) => {
      if (!isReady(pod) || ready.has(pod.metadata.uid)) return;
      ready.add(pod.metadata.uid);
      times.lastReady = Date.now();
    },
    end.signal,
  );
  const daemonSet = api.follow(
    `/apis/apps/v1/namespaces/${namespace}/daemonsets?fieldSelector=metadata.name%3D${name}`,
    ({ status }) => {
      const now = JSON.stringify(status);
      if (now !== counts) times.lastCounted = Date.now();
      counts = now;
    },
    end.signal,
  );
  return {
    seen: () => ({ ...times }),
    async stop() {
      end.abort();
      await Promise.all([pods, daemonSet]);
    },
  };
}

function isReady({ status }: ApiObject): boolean {
  const { conditions = [] } = (status ?? {}) as { conditions?: readonly { type: string; status: string }[] };
  return conditions.some((one) => one.type === 'Ready' && one.status === 'True');
}
