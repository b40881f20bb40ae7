import { readFileSync } from 'node:fs';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { containersOf } from '../../src/kube/workload.ts';
import { manifestText, parseManifest } from '../../src/manifest/manifest.ts';
import { virtualClock } from '../../src/sandbox/clock.ts';
import { isPodReady, podStatus } from '../../src/sandbox/pods-of.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { storedIn } from './chart-bench.ts';
import { testFolder } from './folders.ts';
import { kindIn, makeCharted, put } from './incident-grounds.ts';
import { objectOf } from './inventory.ts';
import {
  api,
  CRD_FILE,
  components,
  OPERATOR_FILE,
  operatorImage,
  SOURCE,
  SPACE,
  SYSTEM,
  TARGET,
  writeOperatedReleases,
} from './netsvc-operated.ts';
import { manifestFile } from './releases.ts';
import { installedSandbox } from './sandbox-ports.ts';

/** How the operator of the target behaves; times in virtual milliseconds. */
export interface Manner {
  /** From its pod's being ready to the first change. */
  readonly idleMs?: number;
  /** From the agents to the controllers, and from these to the API server. */
  readonly apartMs?: number;
  /** From the first roll of the agents to a second one, with the same images. */
  readonly againMs?: number;
  /** Its pod crashes so often, each time as soon as it has been ready for half a minute, before it does anything. */
  readonly crashes?: number;
  /** An old pod of this workload takes so long to stop. */
  readonly lingering?: { readonly of: string; readonly ms: number };
  /** The components are of the target already, and it has nothing to do. */
  readonly isThere?: true;
  /** It never does anything. */
  readonly isDead?: true;
}

export interface OperatedSandbox {
  readonly scenario: Scenario;
  /** When the operator last changed anything, or an old pod went; milliseconds. */
  changedAt(): number;
  /** What it has to do. */
  acts(): void;
  /** When the operator's own pod was last seen to become ready. */
  readyAt(): number;
}

const CRASH_AFTER_MS = 30_000;
const BACK_MS = 20_000;
const SEEN_MS = 10_000;

let releases: string | undefined;
export const operatedReleases = (): string => {
  releases ??= writeOperatedReleases(testFolder('netsvc-operated-'));
  return releases;
};

/** Release v3.26.4 by its operator, with a v3 API, and that operator's successor once its pod runs. */
export async function operatedSandbox(manner: Manner = {}): Promise<OperatedSandbox> {
  const folder = operatedReleases();
  const scenario = await installedSandbox({ releasesFolder: folder, clock: virtualClock(), cli: false, installed: SOURCE, file: CRD_FILE });
  const { cluster, clock } = scenario;
  const { store } = cluster;
  for (const { object } of documents(manifestFile(SOURCE, OPERATOR_FILE, folder))) cluster.installClientSide(object);
  put(cluster, objectOf('v1', 'Namespace', SYSTEM));
  const installation = put(cluster, objectOf('operator.netsvc.io/v1', 'Installation', 'default', { spec: {} }));
  const owner = { ...installation.metadata, uid: installation.metadata.uid ?? '' };
  for (const one of [...components(manner.isThere ? TARGET : SOURCE, owner), ...api]) put(cluster, one);
  await clock.sleep(60_000);
  cluster.faults.writes = 0;
  let [changedAt, readyAt] = [0, 0];
  const changed = () => {
    changedAt = clock.now().getTime();
  };
  const announce = () => {
    const server = store.list(K.Deployment).find(({ metadata }) => metadata.name === 'netsvc-apiserver');
    const available = (server?.status as { readonly availableReplicas?: number } | undefined)?.availableReplicas === 1;
    const service = store.get(K.APIService, 'v3.netsvc.io');
    const conditions = [{ type: 'Available', status: available ? 'True' : 'False', reason: available ? 'Passed' : 'MissingEndpoints' }];
    if (service) store.update(K.APIService, { ...service, status: { conditions } } as KubeObject);
  };
  announce();
  store.listen(({ kind, after }) => {
    if (kind.plural === K.Deployment.plural && after?.metadata.name === 'netsvc-apiserver') clock.schedule(SEEN_MS, announce);
  });
  const to = (kind: 'DaemonSet' | 'Deployment', name: string, note?: string) => {
    const live = store.get(K[kind], name, SYSTEM);
    if (!live) throw new Error(`there is no ${kind} ${name}`);
    const text = JSON.stringify(live.spec).replaceAll(`:${SOURCE}`, `:${TARGET}`);
    const spec = JSON.parse(
      note === undefined ? text : text.replace('"tolerations"', `"terminationGracePeriodSeconds":${note},"tolerations"`),
    );
    changed();
    store.update(K[kind], { ...live, spec } as KubeObject);
  };
  const acts = () => {
    const { apartMs = 0, againMs } = manner;
    to('DaemonSet', 'netsvc-node');
    if (againMs !== undefined) clock.schedule(againMs, () => to('DaemonSet', 'netsvc-node', '5'));
    clock.schedule(apartMs, () => to('Deployment', 'netsvc-kube-controllers'));
    clock.schedule(2 * apartMs, () => to('Deployment', 'netsvc-apiserver'));
  };
  let left = manner.crashes ?? 0;
  const seen = new Set<string>();
  store.listen(({ kind, after }) => {
    if (kind.plural !== K.Pod.plural || !after || !isNewOperator(after) || !isPodReady(after)) return;
    const uid = after.metadata.uid ?? '';
    if (seen.has(`${uid} ${left}`)) return;
    seen.add(`${uid} ${left}`);
    readyAt = clock.now().getTime();
    const set = (state: 'crash-loop' | 'ready') => {
      const live = store.get(K.Pod, after.metadata.name, SPACE);
      if (live) store.update(K.Pod, { ...live, status: podStatus(live, state, clock.now().toISOString()) } as KubeObject);
    };
    if (left === 0) return void (manner.isThere || manner.isDead || clock.schedule(manner.idleMs ?? 5_000, acts));
    clock.schedule(CRASH_AFTER_MS, () => {
      left -= 1;
      set('crash-loop');
      clock.schedule(BACK_MS, () => set('ready'));
    });
  });
  if (manner.lingering) linger(scenario, manner.lingering, changed);
  return { scenario, acts, changedAt: () => changedAt, readyAt: () => readyAt };
}

function documents(path: string) {
  return parseManifest(readFileSync(path, 'utf8'), path).documents;
}

const isNewOperator = (pod: KubeObject): boolean =>
  pod.metadata.namespace === SPACE && JSON.stringify(pod.spec).includes(operatorImage(TARGET));

/** Of the first pod that is told to stop a copy stays behind, as of one whose node takes its time. */
function linger({ cluster, clock }: Scenario, { of, ms }: { readonly of: string; readonly ms: number }, changed: () => void): void {
  const { store } = cluster;
  let isDone = false;
  store.listen(({ kind, before, after }) => {
    if (isDone || kind.plural !== K.Pod.plural || after || !before?.metadata.name.startsWith(of)) return;
    isDone = true;
    const { name, namespace = '', labels } = before.metadata;
    const old = { ...before, metadata: { name: `${name}-old`, namespace, labels } } as KubeObject;
    store.markDeleted(kindIn(cluster, old), store.insert(K.Pod, old));
    clock.schedule(ms, () => {
      changed();
      store.delete(K.Pod, `${name}-old`, namespace);
    });
  });
}

/** The same, installed by chart. */
export function chartNetsvc({ scenario }: Pick<OperatedSandbox, 'scenario'>): void {
  const { cluster, releases } = scenario;
  makeCharted(scenario, { release: 'netsvc', operator: SPACE, group: 'operator.netsvc.io' });
  const objects = documents(manifestFile(SOURCE, OPERATOR_FILE, releases.source)).map(({ object }) => object);
  const chart = { metadata: { name: SPACE, version: SOURCE }, values: {} };
  const manifest = manifestText(objects.filter(({ kind }) => kind !== K.Namespace.kind));
  for (const one of storedIn({ stored: { name: 'netsvc', namespace: SPACE, chart, config: {}, manifest } })) put(cluster, one);
}

/** Releases that the containers of the components have. */
export function runsOf({ scenario }: Pick<OperatedSandbox, 'scenario'>): readonly string[] {
  const { store } = scenario.cluster;
  const all = [K.DaemonSet, K.Deployment].flatMap((kind) => store.list(kind)).filter(({ metadata }) => metadata.namespace === SYSTEM);
  return [...new Set(all.flatMap(containersOf).map(({ image = '' }) => image.split(':').at(-1) ?? ''))];
}
