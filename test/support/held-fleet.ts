import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { containersOf } from '../../src/kube/workload.ts';
import { isPodReady, isStopping, podStatus } from '../../src/sandbox/pods-of.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { operates } from '../sandbox/ailing-pods.ts';
import { type Ground, type GroundName, groundOf } from './incident-grounds.ts';
import { CALICO_TARGET } from './target.ts';

/** An installation by an operator on many nodes. */
export interface HeldFleet extends Ground {
  /** The most agents that were not available at one moment. */
  readonly worst: () => number;
  /** Annotations of Deployments, their ReplicaSets and DaemonSets, those that the operator and this program know. */
  readonly marks: () => readonly string[];
  /** Moments at which an agent ran that every ready Typha refuses. */
  readonly refused: () => number;
  /** Releases of what runs in the namespace of the components. */
  readonly runs: () => readonly string[];
}

const SPACE = 'calico-system';
/** An agent that a Typha refuses is ready for so long. Virtual milliseconds. */
const REFUSED_MS = 90_000;

export async function heldFleet(nodes: number, name: GroundName = 'operator', plays = operates): Promise<HeldFleet> {
  const ground = await groundOf(name);
  const { scenario } = ground;
  const { cluster, clock } = scenario;
  const { store } = cluster;
  cluster.nodes.add(nodes - store.list(K.Node).length);
  await clock.sleep(REFUSED_MS);
  let worst = 0;
  store.listen(({ kind }) => {
    if (kind.plural !== K.Pod.plural) return;
    worst = Math.max(worst, nodes - agentsOf(scenario).filter((pod) => isPodReady(pod) && !isStopping(pod)).length);
  });
  playCopies(scenario);
  const refused = playRefusals(scenario);
  plays(cluster, scenario);
  const marked = () => [...store.list(K.Deployment), ...store.list(K.ReplicaSet), ...store.list(K.DaemonSet)];
  return {
    ...ground,
    worst: () => worst,
    refused,
    marks: () =>
      marked().flatMap(({ kind, metadata }) =>
        Object.keys(metadata.annotations ?? {})
          .filter(isMark)
          .map((key) => `${kind} ${key}`),
      ),
    runs: () => [...new Set([...store.list(K.DaemonSet), ...store.list(K.Deployment)].filter(isComponent).flatMap(releasesIn))],
  };
}

const isMark = (key: string): boolean => key.endsWith('/ignore') || key.startsWith('netsvc-upgrade/');
const isComponent = ({ metadata }: KubeObject): boolean => metadata.namespace === SPACE;
const releasesIn = (workload: KubeObject): readonly string[] =>
  containersOf(workload).map(({ image = '' }) => image.split(':').at(-1) ?? '');

function podsNamed({ cluster: { store } }: Scenario, name: string): readonly KubeObject[] {
  return store.list(K.Pod).filter(({ metadata }) => metadata.namespace === SPACE && metadata.labels?.['k8s-app'] === name);
}

const agentsOf = (scenario: Scenario) => podsNamed(scenario, 'calico-node');
const isNew = (pod: KubeObject): boolean => JSON.stringify(pod.spec).includes(`:${CALICO_TARGET}`);

/** A new Typha refuses old agents. Where no other is left, they are not ready after a while, and the DaemonSet controller replaces them at once. */
function playRefusals(scenario: Scenario): () => number {
  const { cluster, clock } = scenario;
  const { store } = cluster;
  const areRefused = () => {
    const typhas = podsNamed(scenario, 'calico-typha').filter((pod) => isPodReady(pod) && !isStopping(pod));
    return typhas.length > 0 && typhas.every(isNew);
  };
  let since: object | undefined;
  let moments = 0;
  store.listen(({ kind }) => {
    if (kind.plural === K.Pod.plural && areRefused() && agentsOf(scenario).some((pod) => !isNew(pod) && !isStopping(pod))) moments += 1;
    if (kind.plural !== K.Pod.plural || areRefused() === (since !== undefined)) return;
    if (since) {
      since = undefined;
      return;
    }
    const mark = {};
    since = mark;
    clock.schedule(REFUSED_MS, () => {
      for (const pod of since === mark ? agentsOf(scenario) : [])
        if (!isNew(pod) && !isStopping(pod))
          store.update(K.Pod, { ...pod, status: podStatus(pod, 'not-ready', clock.now().toISOString()) } as KubeObject);
    });
  });
  return () => moments;
}

/** The Deployment controller makes a ReplicaSet for each template, and copies annotations to the newest; it takes none away. */
function playCopies({ cluster: { store }, clock }: Scenario): void {
  const copy = (name: string) => {
    const deployment = store.get(K.Deployment, name, SPACE);
    if (!deployment) return;
    const of = releasesIn(deployment)[0]?.replaceAll('.', '-') ?? '';
    const { uid = '', annotations = {} } = deployment.metadata;
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name, uid, controller: true };
    const live = store.get(K.ReplicaSet, `${name}-${of}`, SPACE);
    const metadata = { name: `${name}-${of}`, namespace: SPACE, ownerReferences: [owner], annotations };
    if (!live) store.insert(K.ReplicaSet, { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata, spec: {} });
    else
      store.update(K.ReplicaSet, {
        ...live,
        metadata: { ...live.metadata, annotations: { ...live.metadata.annotations, ...annotations } },
      });
  };
  store.listen(({ kind, after }) => {
    if (kind.plural === K.Deployment.plural && after && isComponent(after)) clock.schedule(50, () => copy(after.metadata.name));
  });
  for (const name of ['calico-typha', 'calico-kube-controllers']) copy(name);
}
