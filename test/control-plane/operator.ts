import { setTimeout as pause } from 'node:timers/promises';
import { type Api, ApiError, type ApiObject } from './api.ts';
import { find, missingComponents, renderComponents } from './operated-components.ts';

/** How the played operator behaves. */
export interface OperatorManner {
  /** `deaf` takes the lease, changes the Installation and writes nothing more; `flap` turns red once after it was green. */
  mode: 'well' | 'deaf' | 'flap';
  /** Share of the recorded times: 1 is as slow as the real one. */
  readonly pace: number;
}

export interface PlayedOperator {
  stop(): Promise<void>;
}

/** Operator image tag → what it brings. */
const RELEASES: Readonly<Record<string, string>> = {
  'v1.20.9': 'v3.20.6',
  'v1.28.5': 'v3.24.6',
  'v1.32.12': 'v3.27.5',
  'v1.38.13': 'v3.30.7',
  'v1.42.3': 'v3.32.1',
};
/** The release whose operator is played with all that is recorded of it; the older ones do no more than bring their own. */
const TARGET = 'v3.32.1';
const GROUP = '/apis/operator.tigera.io/v1';
const DEPLOYMENT = '/apis/apps/v1/namespaces/tigera-operator/deployments/tigera-operator';
/** From the end of the old process to the lease of the new one, and between two looks of the status manager (recorded). */
const LEASE_MS = 18_000;
const TICK_MS = 5_000;

interface Deployment {
  readonly metadata: { readonly generation: number };
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } } };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly updatedReplicas?: number;
    readonly replicas?: number;
    readonly availableReplicas?: number;
  };
}

/**
 * Plays the operator of the image that its Deployment runs: it waits for the lease, changes the Installation, sets all images at once,
 * and writes component statuses condition by condition; the release comes last. Before that the old statuses stay as they are.
 */
export function playOperator(api: Api, manner: OperatorManner): PlayedOperator {
  const end = new AbortController();
  const done = work(api, manner, end.signal);
  return {
    async stop() {
      end.abort();
      await done;
    },
  };
}

async function work(api: Api, manner: OperatorManner, signal: AbortSignal): Promise<void> {
  const after = (ms: number) => pause(ms * manner.pace, undefined, { signal }).catch(() => undefined);
  const state = { release: '', flapped: false };
  while (!signal.aborted) {
    await look(api, manner, state, after).catch(nextTime);
    await after(TICK_MS);
  }
}

/** Whoever writes at the same time, and new CRDs, make the server refuse for a moment. */
function nextTime(thrown: unknown): void {
  if (!(thrown instanceof ApiError) || ![404, 409, 429, 500, 503].includes(thrown.status)) throw thrown;
}

type State = { release: string; flapped: boolean };

async function look(api: Api, manner: OperatorManner, state: State, after: (ms: number) => Promise<unknown>): Promise<void> {
  const release = await runningRelease(api);
  const installation = await find(api, `${GROUP}/installations/default`);
  if (release === undefined || !installation) return;
  if (release !== state.release) {
    if (state.release !== '') {
      await after(LEASE_MS);
      // Its own defaults: from here on the statuses of before are about a generation that is over.
      const spec = { calicoNetwork: { linuxPolicySetupTimeoutSeconds: 0 } };
      await api.send('PATCH', `${GROUP}/installations/default`, { spec });
    }
    state.release = release;
  }
  if (manner.mode === 'deaf' && release === TARGET) return;
  const flowLogs = (await find(api, `${GROUP}/goldmanes/default`)) !== undefined && release === TARGET;
  await renderComponents(api, { release, flowLogs });
  await after(TICK_MS);
  await writeStatuses(api, state, manner, flowLogs);
}

/** Undefined while its pod is being replaced. */
async function runningRelease(api: Api): Promise<string | undefined> {
  const operator = await find<Deployment>(api, DEPLOYMENT);
  if (!operator) return undefined;
  const { metadata, spec, status = {} } = operator;
  const runs =
    status.observedGeneration === metadata.generation && status.updatedReplicas === status.replicas && status.availableReplicas === 1;
  const tag = spec.template.spec.containers[0]?.image.split(':').at(-1) ?? '';
  return runs ? RELEASES[tag] : undefined;
}

async function writeStatuses(api: Api, state: State, manner: OperatorManner, flowLogs: boolean): Promise<void> {
  const { metadata } = await api.get<ApiObject>(`${GROUP}/installations/default`);
  const generation = Number(metadata.generation);
  const isNew = state.release === TARGET;
  const missing = await missingComponents(api);
  const flaps = isNew && manner.mode === 'flap' && missing === '' && !state.flapped;
  const others = isNew ? ['tiers', 'ippools', ...(flowLogs ? ['goldmane', 'whisker'] : [])] : [];
  for (const name of others) await writeStatus(api, name, name === 'tiers' ? undefined : name === 'ippools' ? generation : 1, '');
  await writeStatus(api, 'calico', generation, missing);
  if (missing === '') await api.send('PATCH', `${GROUP}/installations/default/status`, { status: { calicoVersion: state.release } });
  if (!flaps) return;
  state.flapped = true;
  const words = 'Error creating / updating resource: networkpolicies.projectcalico.org "calico-system.cluster-dns" already exists';
  await writeStatus(api, 'tiers', undefined, words, true);
}

interface Condition {
  readonly type: string;
  readonly status: string;
}

/** Condition by condition, as the real one: Available may be true next to an old Degraded. */
async function writeStatus(api: Api, name: string, generation: number | undefined, why: string, degraded = false): Promise<void> {
  const path = `${GROUP}/tigerastatuses`;
  if (!(await find(api, `${path}/${name}`)))
    await api.send('POST', path, { apiVersion: 'operator.tigera.io/v1', kind: 'TigeraStatus', metadata: { name } });
  const about = generation === undefined ? {} : { observedGeneration: generation };
  const said = {
    lastTransitionTime: new Date().toISOString(),
    reason: degraded ? 'ResourceUpdateError' : 'ResourceNotReady',
    message: why,
    ...about,
  };
  const good = why === '';
  const words = { Available: good, Progressing: !good && !degraded, Degraded: degraded };
  const live = await api.get<ApiObject>(`${path}/${name}`);
  const before = (live.status as { conditions?: readonly Condition[] } | undefined)?.conditions ?? [];
  let conditions: readonly Condition[] = before;
  for (const [type, is] of Object.entries(words)) {
    conditions = [...conditions.filter((one) => one.type !== type), { type, status: is ? 'True' : 'False', ...said }];
    await api.send('PATCH', `${path}/${name}/status`, { status: { conditions } });
  }
}
