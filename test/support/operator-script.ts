import assert from 'node:assert/strict';
import { operatorEndNames } from '../../src/features/install-operator/expectation.ts';
import type { OperatorView } from '../../src/features/install-operator/operator-causes.ts';
import { type OperatorMemory, type OperatorVerdict, operatorVerdict } from '../../src/features/install-operator/operator-verdict.ts';
import { Lasted } from '../../src/features/rollout/index.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { ApiFailure, type ClusterReader } from '../../src/kernel/ports.ts';
import { calico } from '../../src/profiles/calico.ts';
import { object } from '../fixtures/facts.ts';
import { CALICO_OPERATOR, CALICO_TARGET } from './target.ts';

export const OLD = { operator: 'quay.io/tigera/operator:v1.32.12', release: 'v3.27.5' } as const;
export const NEW = { operator: `quay.io/tigera/operator:${CALICO_OPERATOR}`, release: CALICO_TARGET } as const;

/** As the product's own wait has it (`apply.test.ts`). */
export const HOLD_MS = 15_000;

const names = operatorEndNames(calico) ?? assert.fail('the profile does not know the end');

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
  ...before,
  ...{ operator: NEW.operator, generation: 4, version: NEW.release },
  statuses: { calico: ['good', 4], ippools: ['good', 4], tiers: ['good'], apiserver: ['good', 1] },
  node: { image: NEW.release, updated: 3, ready: 3 },
  api: { namespace: 'calico-system', available: true, old: false },
};

/** From this second on the cluster is like this. */
export type Script = readonly (readonly [second: number, moment: Moment])[];

export interface Look extends OperatorVerdict {
  readonly second: number;
  readonly done: boolean;
}

/** Plays a script by a clock of whole seconds and judges at each, as the wait does; nothing sleeps. */
export function play(script: Script, seconds: number): readonly Look[] {
  const looks: Look[] = [];
  const lasted = new Lasted(HOLD_MS);
  let memory: OperatorMemory = {};
  for (let second = 0; second <= seconds; second += 1) {
    const moment = script.findLast(([from]) => from <= second)?.[1] ?? before;
    const verdict = operatorVerdict(viewOf(moment, second * 1000), memory);
    memory = verdict.memory;
    looks.push({ ...verdict, second, done: lasted.isEnough(verdict.lags.length === 0 ? '' : undefined, second * 1000) });
  }
  return looks;
}

export function viewOf({ node, api, kinds, ...moment }: Moment, now: number): OperatorView {
  const available = { type: 'Available', status: api.available ? 'True' : 'False', reason: api.available ? 'Passed' : 'MissingEndpoints' };
  return {
    names,
    target: { release: NEW.release, operatorImage: NEW.operator, registry: 'quay.io/', digests: ['sha256:new'] },
    deployment: deployment('tigera-operator', moment.operator, moment.operatorReady),
    installation: object('v1', 'Installation/default', {
      metadata: { generation: moment.generation },
      ...{ spec: {}, status: { calicoVersion: moment.version } },
    }),
    statuses: Object.entries(moment.statuses).map(([name, [say, generation]]) =>
      object('v1', `TigeraStatus/${name}`, { status: { conditions: conditions(say, generation) } }),
    ),
    resources: kinds.map((kind) => object('v1', `${kind}/default`)),
    // The controllers are always on the new release: what lags in a script lags elsewhere.
    workloads: [daemonSet(node), deployment('calico-kube-controllers', `quay.io/calico/kube-controllers:${NEW.release}`)],
    apiService: object('v1', `APIService/${names.api.service}`, {
      ...{ spec: { service: { namespace: api.namespace } }, status: { conditions: [available] } },
    }),
    oldApiNamespace: api.old ? object('v1', `Namespace/${names.api.oldNamespace}`) : undefined,
    now,
  };
}

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

function deployment(name: string, image: string, ready = 1): KubeObject {
  return object('v1', `Deployment/${name}`, {
    metadata: { generation: 2 },
    spec: { replicas: 1, template: { spec: { containers: [{ image }] } } },
    status: { observedGeneration: 2, replicas: 1, updatedReplicas: ready, readyReplicas: ready, availableReplicas: ready },
  });
}

function daemonSet({ image, updated, ready, unseen }: Moment['node']): KubeObject {
  const tag = image.startsWith('sha256:') ? `@${image}` : `:${image}`;
  const counts = { desiredNumberScheduled: 3, currentNumberScheduled: 3, updatedNumberScheduled: updated };
  return object('v1', 'DaemonSet/calico-node', {
    metadata: { generation: 5 },
    spec: { template: { spec: { containers: [{ image: `quay.io/calico/node${tag}` }] } } },
    status: { observedGeneration: unseen ? 4 : 5, ...counts, numberReady: ready, numberAvailable: ready },
  });
}

/** A clock of its own time: sleeping moves it on, nothing waits. */
export function steppingClock() {
  let ms = 0;
  const jump = (by: number) => {
    ms += by;
  };
  return { now: () => new Date(ms), sleep: async (by: number) => jump(by), jump, seconds: () => ms / 1000 };
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
  const cluster: Partial<ClusterReader> = {
    async get({ kind }, name) {
      const { deployment, installation, apiService, oldApiNamespace, resources } = look();
      const all = [deployment, installation, apiService, oldApiNamespace, ...resources];
      return all.find((one) => one?.kind === kind && one.metadata.name === name);
    },
    async list({ kind }) {
      const { statuses, workloads } = look();
      return [...statuses, ...workloads].filter((one) => one.kind === kind);
    },
    resolve: async (apiVersion, kind) => ({ group: apiVersion.split('/')[0] ?? '', version: 'v1', kind, plural: kind, namespaced: false }),
  };
  return cluster as ClusterReader;
}
