import { K } from '../../src/kernel/kinds.ts';
import type { Kind, KubeObject } from '../../src/kernel/object.ts';
import { podShape } from '../../src/kube/pod-facts.ts';
import { isPodReady, nodeOf, type PodState, podStatus } from '../../src/sandbox/pods-of.ts';
import type { SandboxCluster } from '../../src/sandbox/sandbox-cluster.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { kindIn } from '../support/incident-grounds.ts';
import { objectOf } from '../support/inventory.ts';
import { CALICO_OPERATOR, CALICO_TARGET, NETSVC_TARGET } from '../support/target.ts';

/** How pods of the new release fail, as their kubelet and their log tell. */
interface Ailment {
  readonly exitCode?: number;
  readonly event?: { readonly reason: string; readonly message: string };
  readonly log?: string;
}

/** Pods of the new release whose names begin so, once they run, are like this. */
export const ailing =
  (pods: string, state: PodState, { exitCode = 1, event, log }: Ailment) =>
  (cluster: SandboxCluster, scenario: Scenario): void => {
    onNew(scenario, pods, isRunning, (pod) => {
      const status = podStatus(pod, state, '2026-01-01T00:00:00Z');
      const [first] = status.containerStatuses;
      const containerStatuses = status.containerStatuses.map((one) => ({ ...first, name: one.name, image: one.image }));
      const text = JSON.stringify({ ...status, containerStatuses }).replaceAll('"exitCode":1', `"exitCode":${exitCode}`);
      cluster.store.update(K.Pod, { ...pod, status: JSON.parse(text) } as KubeObject);
    });
    answers(cluster, (path) => {
      if (path.includes('/log?')) return log;
      return event && path.includes(`involvedObject.name%3D${pods}`) ? items({ type: 'Warning', count: 4, ...event }) : undefined;
    });
  };

/** The programs of such pods of the new release end with this code, and nobody starts them again: pods of Jobs. */
export const ending =
  (pods: string, exitCode: number) =>
  ({ store }: SandboxCluster, scenario: Scenario): void =>
    onNew(scenario, pods, isRunning, (pod) => {
      const { status } = podShape(pod);
      const state = { terminated: { exitCode, reason: 'Error' } };
      const containerStatuses = status?.containerStatuses?.map((one) => ({ ...one, ready: false, state }));
      store.update(K.Pod, { ...pod, status: { ...status, phase: 'Failed', containerStatuses } } as KubeObject);
    });

/** The CNI plugin refuses a new pod with these words, on the node whose agent is new and ready; the next agent takes its time. */
export const withoutNetwork =
  (message: string) =>
  (cluster: SandboxCluster, scenario: Scenario): void => {
    const now = () => scenario.clock.now().toISOString();
    let host: string | undefined;
    onReady(scenario, 'netsvc-node', (pod) => {
      const isFirst = host === undefined;
      host ??= nodeOf(pod);
      const status = podStatus(pod, isFirst ? 'ready' : 'not-ready', now());
      const conditions = status.conditions.map((one) => ({ ...one, lastTransitionTime: now() }));
      cluster.store.update(K.Pod, { ...pod, status: { ...status, conditions } } as KubeObject);
    });
    const involvedObject = { kind: 'Pod', namespace: 'shop', name: 'web' };
    answers(cluster, (path) => {
      if (path.includes('reason%3DFailedCreatePodSandBox'))
        return items({ message, lastTimestamp: now(), source: { host }, involvedObject });
      return path.includes('/namespaces/shop/pods?')
        ? items({ metadata: { creationTimestamp: now() }, spec: { nodeName: host }, status: { phase: 'Pending' } })
        : undefined;
    });
  };

const OF_TARGET = [CALICO_TARGET, NETSVC_TARGET, CALICO_OPERATOR];

/** Whenever a pod of the new release is like that. */
function onNew({ cluster: { store }, clock }: Scenario, names: string, isDue: typeof isPodReady, act: (pod: KubeObject) => void): void {
  store.listen(({ kind, after }) => {
    if (kind.plural !== K.Pod.plural || !after?.metadata.name.startsWith(names) || !isDue(after)) return;
    if (!OF_TARGET.some((tag) => JSON.stringify(after.spec).includes(`:${tag}`))) return;
    clock.schedule(0, () => store.get(K.Pod, after.metadata.name, after.metadata.namespace) && act(after));
  });
}

/** Once for each of them. */
function onReady(scenario: Scenario, names: string, act: (pod: KubeObject) => void): void {
  const seen = new Set<string | undefined>();
  onNew(scenario, names, (pod) => isPodReady(pod) && !seen.has(pod.metadata.uid) && !!seen.add(pod.metadata.uid), act);
}

const isRunning = (pod: KubeObject): boolean => podShape(pod).status?.containerStatuses?.[0]?.state?.running !== undefined;

/** What the sandbox does not answer itself. */
function answers(cluster: SandboxCluster, answer: (path: string) => string | undefined): void {
  const { raw } = cluster;
  Object.assign(cluster, { raw: async (path: string) => answer(path) ?? raw(path) });
}

const items = (one: object): string => JSON.stringify({ items: [one] });

/** The old namespace of the API server takes so long to go. Virtual milliseconds. */
const GONE_MS = 180_000;
/** Until the operator acts on a change that it hears of. Virtual milliseconds. */
const HEARD_MS = 1_000;
type Spec = Readonly<Record<string, unknown>>;
const IGNORED = 'unsupported.operator.tigera.io/ignore';
const STATUSES = { calico: 'Installation', ippools: 'Installation', tiers: 'Installation', apiserver: 'APIServer' };

/** What the operator of the target does once it runs, all at one moment but the end of the old namespace. */
export function operates(cluster: SandboxCluster, scenario: Scenario, release: string = CALICO_TARGET): void {
  const { store } = cluster;
  const apiVersion = 'operator.tigera.io/v1';
  const kindOf = (kind: string) => kindIn(cluster, { apiVersion, kind });
  const statusOf = (resource: string) => {
    const { generation: observedGeneration } = store.get(kindOf(resource), 'default')?.metadata ?? {};
    const conditions = Object.entries({ Available: 'True', Progressing: 'False', Degraded: 'False' });
    return { conditions: conditions.map(([type, status]) => ({ type, status, observedGeneration })) };
  };
  onReady(scenario, 'tigera-operator', () => {
    const strategy = () => (store.get(kindOf('Installation'), 'default')?.spec as Spec | undefined)?.nodeUpdateStrategy;
    const render = (kind: Kind, one: KubeObject) => {
      // Every operator leaves such an object alone, whatever its own release.
      if (one.metadata.namespace !== 'calico-system' || one.metadata.annotations?.[IGNORED] === 'true') return;
      const own = kind.plural === K.DaemonSet.plural ? { spec: { ...(one.spec as Spec), updateStrategy: strategy() } } : {};
      store.update(kind, JSON.parse(JSON.stringify({ ...one, ...own }).replaceAll(':v3.27.5', `:${release}`)) as KubeObject);
    };
    const told = () => {
      for (const [name, resource] of Object.entries(STATUSES)) tell(name, resource);
    };
    const tell = (name: string, resource: string) => {
      const [kind, status] = [kindOf('TigeraStatus'), statusOf(resource)];
      const live = store.get(kind, name);
      if (live) store.update(kind, { ...live, status } as KubeObject);
      else store.insert(kind, objectOf(apiVersion, 'TigeraStatus', name, { status }));
    };
    // It acts on its own resource at once.
    store.listen(({ kind, before, after }) => {
      if (kind.plural !== 'installations' || before?.metadata.generation === after?.metadata.generation) return;
      scenario.clock.schedule(HEARD_MS, () => {
        for (const one of store.list(K.DaemonSet)) render(K.DaemonSet, one);
        told();
      });
    });
    for (const kind of [K.DaemonSet, K.Deployment]) for (const one of store.list(kind)) render(kind, one);
    // It hears of a Deployment by its generation.
    store.listen(({ kind, before, after }) => {
      if (kind.plural !== K.Deployment.plural || !after || before?.metadata.generation === after.metadata.generation) return;
      scenario.clock.schedule(HEARD_MS, () => {
        const live = store.get(kind, after.metadata.name, after.metadata.namespace);
        if (live) render(kind, live);
      });
    });
    const installation = store.get(kindOf('Installation'), 'default');
    if (installation) store.update(kindOf('Installation'), { ...installation, status: { calicoVersion: release } } as KubeObject);
    told();
    const service = store.get(K.APIService, 'v3.projectcalico.org');
    const spec = { ...(service?.spec as object), service: { namespace: 'calico-system', name: 'calico-api' } };
    if (service) store.update(K.APIService, { ...service, spec } as KubeObject);
    store.delete(K.Deployment, 'calico-apiserver', 'calico-apiserver');
    scenario.clock.schedule(GONE_MS, () => store.delete(K.Namespace, 'calico-apiserver'));
  });
}
