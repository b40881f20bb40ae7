import { K } from '../../src/kernel/kinds.ts';
import type { Kind, KubeObject } from '../../src/kernel/object.ts';
import { containersOf } from '../../src/kube/workload.ts';
import { isPodReady, isStopping } from '../../src/sandbox/pods-of.ts';
import type { SandboxCluster } from '../../src/sandbox/sandbox-cluster.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { kindIn } from './incident-grounds.ts';
import { objectOf } from './inventory.ts';
import { CALICO_OPERATOR, CALICO_TARGET } from './target.ts';

/** What an operator brings, by the end of its image, and the component statuses that it writes. */
const BRINGS = {
  ':v1.40.15': { release: 'v3.31.7', statuses: ['calico', 'ippools', 'apiserver'] },
  [`:${CALICO_OPERATOR}`]: { release: CALICO_TARGET, statuses: ['calico', 'ippools', 'tiers', 'apiserver'] },
} as const;

/** Until an operator acts on what it hears of. Virtual milliseconds. */
const HEARD_MS = 1_000;
const SPACE = 'calico-system';
const IGNORED = 'unsupported.operator.tigera.io/ignore';
const API = 'operator.tigera.io/v1';

/** The operator whose pod runs, whatever its release: it writes all components at one moment, and hears of a workload by its generation. */
export function playOperators(cluster: SandboxCluster, { clock }: Scenario): void {
  const { store } = cluster;
  let isDue = false;
  const running = () => {
    const pods = store.list(K.Pod).filter(({ metadata }) => metadata.namespace === 'tigera-operator');
    const images = pods.filter((pod) => isPodReady(pod) && !isStopping(pod)).map((pod) => JSON.stringify(pod.spec));
    return Object.entries(BRINGS).find(([tag]) => images.some((text) => text.includes(`${tag}"`)))?.[1];
  };
  const act = () => {
    isDue = false;
    const own = running();
    if (!own) return;
    for (const kind of [K.DaemonSet, K.Deployment])
      for (const one of store.list(kind)) if (one.metadata.namespace === SPACE) render(cluster, kind, one, own.release);
    say(cluster, own);
  };
  store.listen(({ kind, before, after }) => {
    const isHeard =
      kind.plural === K.Pod.plural
        ? after?.metadata.namespace === 'tigera-operator'
        : ([K.Deployment, K.DaemonSet].includes(kind) || kind.plural === 'installations') &&
          before?.metadata.generation !== after?.metadata.generation;
    if (!isHeard || isDue) return;
    isDue = true;
    clock.schedule(HEARD_MS, act);
  });
}

/** As it wants it, strategy and number of pods too; every operator leaves alone what bears the annotation. */
function render(cluster: SandboxCluster, kind: Kind, live: KubeObject, release: string): void {
  const { store } = cluster;
  if (live.metadata.annotations?.[IGNORED] === 'true') return;
  const text = JSON.stringify(live.spec).replaceAll(/:v3\.\d+\.\d+/g, `:${release}`);
  const own = kind === K.DaemonSet ? { updateStrategy: strategyIn(cluster) } : { replicas: 1 };
  const spec = { ...(JSON.parse(text) as object), ...own };
  if (JSON.stringify(spec) !== JSON.stringify(live.spec)) store.update(kind, { ...live, spec } as KubeObject);
}

function strategyIn(cluster: SandboxCluster): object {
  const installation = cluster.store.get(kindIn(cluster, { apiVersion: API, kind: 'Installation' }), 'default');
  const { nodeUpdateStrategy = {} } = (installation?.spec ?? {}) as { readonly nodeUpdateStrategy?: object };
  return { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 }, ...nodeUpdateStrategy };
}

/** Whatever is held: the statuses say that all is well. */
function say(cluster: SandboxCluster, { release, statuses }: (typeof BRINGS)[keyof typeof BRINGS]): void {
  const { store } = cluster;
  const kindOf = (kind: string) => kindIn(cluster, { apiVersion: API, kind });
  const [installations, all] = [kindOf('Installation'), kindOf('TigeraStatus')];
  const installation = store.get(installations, 'default');
  if (!installation) return;
  const isWell = [K.DaemonSet, K.Deployment].every((kind) =>
    store
      .list(kind)
      .filter(({ metadata }) => metadata.namespace === SPACE && metadata.annotations?.[IGNORED] !== 'true')
      .every((one) => containersOf(one).every(({ image = '' }) => image.endsWith(`:${release}`))),
  );
  if (!isWell) return;
  const { calicoVersion } = (installation.status ?? {}) as { readonly calicoVersion?: string };
  if (calicoVersion !== release) store.update(installations, { ...installation, status: { calicoVersion: release } } as KubeObject);
  for (const name of statuses) {
    const { generation: observedGeneration } =
      store.get(kindOf(name === 'apiserver' ? 'APIServer' : 'Installation'), 'default')?.metadata ?? {};
    const conditions = Object.entries({ Available: 'True', Progressing: 'False', Degraded: 'False' });
    const status = { conditions: conditions.map(([type, is]) => ({ type, status: is, observedGeneration })) };
    const live = store.get(all, name);
    if (!live) store.insert(all, objectOf(API, 'TigeraStatus', name, { status }));
    else if (JSON.stringify(live.status) !== JSON.stringify(status)) store.update(all, { ...live, status } as KubeObject);
  }
}
