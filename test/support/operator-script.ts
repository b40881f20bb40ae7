import assert from 'node:assert/strict';
import { operatorEndNames } from '../../src/features/install-operator/end.ts';
import type { OperatorView } from '../../src/features/install-operator/operator-causes.ts';
import { type OperatorMemory, type OperatorVerdict, operatorVerdict } from '../../src/features/install-operator/operator-verdict.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { ApiFailure, type Clock, type ClusterReader } from '../../src/kernel/ports.ts';
import { calico } from '../../src/profiles/calico.ts';

export const OLD = { operator: 'quay.io/tigera/operator:v1.32.12', release: 'v3.27.5' } as const;
export const NEW = { operator: 'quay.io/tigera/operator:v1.42.3', release: 'v3.32.1' } as const;

const found = operatorEndNames(calico);
assert.ok(found, 'the profile knows the end');
const names = found;

/** `good`, `rolling`, or a reason and message of Degraded. */
type Say = 'good' | 'rolling' | { readonly reason: string; readonly message: string; readonly available?: boolean };

/** The cluster at one moment, by what differs between moments. */
export interface Moment {
  readonly operator: string;
  /** Pods of the operator that are updated and available, of 1. */
  readonly operatorReady: number;
  readonly generation: number;
  readonly version: string;
  /** Component status → what it says and about which generation; absent: it does not exist. */
  readonly statuses: Readonly<Record<string, readonly [Say, number?]>>;
  readonly node: { readonly image: string; readonly updated: number; readonly ready: number; readonly unseen?: boolean };
  readonly api: { readonly namespace: string; readonly available: boolean; readonly old: boolean };
  readonly kinds: readonly string[];
}

/** Wholly on the old release, all statuses green. */
export const before: Moment = {
  operator: OLD.operator,
  operatorReady: 1,
  generation: 2,
  version: OLD.release,
  statuses: { calico: ['good', 2], apiserver: ['good', 1] },
  node: { image: OLD.release, updated: 3, ready: 3 },
  api: { namespace: 'calico-apiserver', available: true, old: true },
  kinds: ['APIServer'],
};

/** Wholly on the new release. */
export const after: Moment = {
  operator: NEW.operator,
  operatorReady: 1,
  generation: 4,
  version: NEW.release,
  statuses: { calico: ['good', 4], ippools: ['good', 4], tiers: ['good'], apiserver: ['good', 1] },
  node: { image: NEW.release, updated: 3, ready: 3 },
  api: { namespace: 'calico-system', available: true, old: false },
  kinds: ['APIServer'],
};

/** From this second on the cluster is like this. */
export type Script = readonly (readonly [second: number, moment: Moment])[];

export interface Look extends OperatorVerdict {
  readonly second: number;
}

/** Plays a script by a clock of whole seconds and judges at each, as the wait does; nothing sleeps. */
export function play(script: Script, seconds: number): readonly Look[] {
  const looks: Look[] = [];
  let memory: OperatorMemory = {};
  for (let second = 0; second <= seconds; second += 1) {
    const moment = script.findLast(([from]) => from <= second)?.[1] ?? before;
    const verdict = operatorVerdict(viewOf(moment, second * 1000), memory);
    memory = verdict.memory;
    looks.push({ ...verdict, second });
  }
  return looks;
}

export function viewOf(moment: Moment, now: number): OperatorView {
  const { node, api, kinds } = moment;
  return {
    names,
    target: { release: NEW.release, operatorImage: NEW.operator, registry: 'quay.io/', digests: ['sha256:new'] },
    deployment: deployment(moment),
    installation: object('Installation', 'default', moment.generation, {}, { calicoVersion: moment.version }),
    statuses: Object.entries(moment.statuses).map(([name, [say, generation]]) =>
      object('TigeraStatus', name, 1, {}, { conditions: conditions(say, generation) }),
    ),
    resources: kinds.map((kind) => object(kind, 'default', 1, {}, {})),
    workloads: [daemonSet(node), controllers()],
    apiService: object('APIService', names.api.service, undefined, { service: { namespace: api.namespace } }, available(api.available)),
    oldApiNamespace: api.old ? object('Namespace', names.api.oldNamespace, undefined, {}, {}) : undefined,
    now,
  };
}

function object(kind: string, name: string, generation: number | undefined, spec: object, status: object): KubeObject {
  return { apiVersion: 'v1', kind, metadata: { name, ...(generation === undefined ? {} : { generation }) }, spec, status };
}

const available = (yes: boolean) => ({
  conditions: [{ type: 'Available', status: yes ? 'True' : 'False', reason: yes ? 'Passed' : 'MissingEndpoints' }],
});

function conditions(say: Say, generation: number | undefined) {
  const about = generation === undefined ? {} : { observedGeneration: generation };
  const failing = typeof say === 'object';
  const isAvailable = say === 'good' || (failing && say.available === true);
  return [
    { type: 'Degraded', status: failing ? 'True' : 'False', ...(failing ? { reason: say.reason, message: say.message } : {}), ...about },
    { type: 'Available', status: isAvailable ? 'True' : 'False', ...about },
    { type: 'Progressing', status: say === 'rolling' ? 'True' : 'False', ...about },
  ];
}

function deployment({ operator, operatorReady: n }: Moment): KubeObject {
  const status = { observedGeneration: 2, replicas: 1, updatedReplicas: n, readyReplicas: n, availableReplicas: n };
  return object('Deployment', 'tigera-operator', 2, { replicas: 1, template: { spec: { containers: [{ image: operator }] } } }, status);
}

function daemonSet({ image, updated, ready, unseen }: Moment['node']): KubeObject {
  const tag = image.startsWith('sha256:') ? `@${image}` : `:${image}`;
  const status = {
    observedGeneration: unseen ? 4 : 5,
    desiredNumberScheduled: 3,
    currentNumberScheduled: 3,
    updatedNumberScheduled: updated,
    numberReady: ready,
    numberAvailable: ready,
  };
  return object('DaemonSet', 'calico-node', 5, { template: { spec: { containers: [{ image: `quay.io/calico/node${tag}` }] } } }, status);
}

/** The controllers, always on the new release: what lags in a script lags elsewhere. */
function controllers(): KubeObject {
  const status = { observedGeneration: 2, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
  const template = { spec: { containers: [{ image: `quay.io/calico/kube-controllers:${NEW.release}` }] } };
  return object('Deployment', 'calico-kube-controllers', 2, { replicas: 1, template }, status);
}

/** A clock of its own time: sleeping moves it on, nothing waits. */
export function steppingClock(): Clock & { readonly seconds: () => number; jump(ms: number): void } {
  let ms = 0;
  return {
    now: () => new Date(ms),
    sleep: async (by) => {
      ms += by;
    },
    jump: (by) => {
      ms += by;
    },
    seconds: () => ms / 1000,
  };
}

/** What the cluster answers from this second on: a moment, or a failure of every request. */
export type Answers = Script | readonly (readonly [second: number, answer: Moment | ApiFailure])[];

/** A cluster whose objects are those of the script at the clock's second. */
export function operatorCluster(answers: Answers, clock: { readonly seconds: () => number }): ClusterReader {
  const look = () => {
    const answer = answers.findLast(([from]) => from <= clock.seconds())?.[1] ?? before;
    if (answer instanceof ApiFailure) throw answer;
    return viewOf(answer, 0);
  };
  const all = () => {
    const view = look();
    const single = [view.deployment, view.installation, view.apiService, view.oldApiNamespace].filter((one) => one !== undefined);
    return { single: [...single, ...view.resources], lists: [...view.statuses, ...view.workloads] };
  };
  const cluster: Partial<ClusterReader> = {
    get: async (kind, name) => all().single.find((one) => one.kind === kind.kind && one.metadata.name === name),
    list: async (kind) => all().lists.filter((one) => one.kind === kind.kind),
    resolve: async (apiVersion, kind) => ({ group: apiVersion.split('/')[0] ?? '', version: 'v1', kind, plural: kind, namespaced: false }),
  };
  return cluster as ClusterReader;
}
