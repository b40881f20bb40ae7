import { setTimeout as pause } from 'node:timers/promises';
import { isOlder } from '../../src/kernel/release.ts';
import { CALICO_OPERATOR, CALICO_TARGET } from '../support/target.ts';
import { type Api, type ApiObject, find } from './api.ts';
import { playApiServer } from './operated-api.ts';
import { missingComponents, renderComponents } from './operated-components.ts';
import { writeStatus } from './operated-statuses.ts';
import { playByLooking } from './played.ts';
import { imageOf, type Workload } from './workloads.ts';

/**
 * `deaf` takes the lease, changes the Installation and writes nothing more; `flap` turns red once after it was green; `pinned`: whoever
 * manages the Deployment sets the old image again, and the old operator lacks rights; `no-crds` finds no kinds and brings nothing;
 * `pod-failure` says of what is not there that its pods fail; `forbidden`: the old one is Degraded between the change of its rights and its end;
 * `refuses`: it does not take the Installation, says so and does nothing.
 */
export type OperatorMode = 'well' | 'deaf' | 'flap' | 'pinned' | 'no-crds' | 'pod-failure' | 'forbidden' | 'refuses';

/** What the new operator does, in order: its own default in the Installation, all images at once, the API server, what it says of itself. */
export type OperatorStep = 'change the Installation' | 'roll the components' | 'bring the API server' | 'write the statuses';

/** How the played operator behaves. */
export interface OperatorManner {
  mode: OperatorMode;
  /** Share of the recorded times: 1 is as slow as the real one. */
  readonly pace: number;
  /** Where its Deployment is, if not in the release's namespace. */
  readonly namespace?: string;
  /** Asked before each step towards the target: the step comes when this is done. */
  readonly hold?: (step: OperatorStep) => Promise<void>;
}

/** Operator image tag → what it brings. */
const RELEASES: Readonly<Record<string, string>> = {
  'v1.13.0': 'v3.17.1',
  'v1.20.9': 'v3.20.6',
  'v1.28.5': 'v3.24.6',
  'v1.32.12': 'v3.27.5',
  'v1.38.13': 'v3.30.7',
  [CALICO_OPERATOR]: CALICO_TARGET,
};
/** The release whose operator is played with all that is recorded of it; the older ones do no more than bring their own. */
const TARGET = CALICO_TARGET;
const GROUP = '/apis/operator.tigera.io/v1';
const INSTALLATION = `${GROUP}/installations/default`;
/** From the end of the old process to the lease of the new one, and between two looks of the status manager (recorded). */
const LEASE_MS = 18_000;
const TICK_MS = 5_000;

const deploymentOf = ({ namespace = 'tigera-operator' }: OperatorManner) =>
  `/apis/apps/v1/namespaces/${namespace}/deployments/tigera-operator`;

/**
 * Plays the operator of the image that its Deployment runs: it waits for the lease, changes the Installation, sets all images at once,
 * and writes component statuses condition by condition; the release comes last. Before that the old statuses stay as they are.
 */
export function playOperator(api: Api, manner: OperatorManner) {
  let changedAt = 0;
  const noting: Api = {
    ...api,
    send: (...request) => {
      changedAt = Date.now();
      return api.send(...request);
    },
  };
  const state = { release: '', flapped: false };
  const look = (signal: AbortSignal) => {
    const after = (ms: number) => pause(ms * manner.pace, undefined, { signal }).catch(() => undefined);
    return act(noting, manner, state, after);
  };
  /** `changedAt`: when it last changed anything, by the clock of this machine; milliseconds. */
  return { changedAt: () => changedAt, ...playByLooking(TICK_MS * manner.pace, look) };
}

type State = { release: string; flapped: boolean };

async function act(api: Api, manner: OperatorManner, state: State, after: (ms: number) => Promise<unknown>): Promise<void> {
  const { wanted, release } = await operatorOf(api, manner);
  const installation = await find(api, INSTALLATION);
  if (!installation) return;
  if (manner.mode === 'refuses') return refuse(api, installation);
  if (wanted === TARGET && state.release !== '' && state.release !== TARGET) {
    await beforeItsEnd(api, manner, installation.metadata.generation);
    // Its Deployment is the old one again, however quickly the new pod was there.
    if (manner.mode === 'pinned') return;
  }
  if (release === undefined) return;
  if (release !== state.release) {
    if (state.release !== '') {
      await after(LEASE_MS);
      await manner.hold?.('change the Installation');
      // Its own defaults: from here on the statuses of before are about a generation that is over.
      const spec = { calicoNetwork: { linuxPolicySetupTimeoutSeconds: 0 } };
      await api.send('PATCH', INSTALLATION, { spec });
    }
    state.release = release;
  }
  const isNew = release === TARGET;
  if (manner.mode === 'deaf' && isNew) return;
  if (manner.mode === 'no-crds' && isNew) return complain(api);
  const spec = installation.spec as { readonly registry?: string; readonly fipsMode?: string; readonly nodeUpdateStrategy?: object };
  const { registry = 'quay.io/', fipsMode, nodeUpdateStrategy: strategy } = spec;
  const tag = fipsMode === 'Enabled' ? `${release}-fips` : release;
  const owner = { apiVersion: 'operator.tigera.io/v1', kind: 'Installation', name: 'default', uid: installation.metadata.uid };
  const knowsFlowLogs = !isOlder(release, 'v3.30.0');
  const flowLogs = knowsFlowLogs && (await find(api, `${GROUP}/goldmanes/default`)) !== undefined;
  const hold = async (step: OperatorStep) => (isNew ? manner.hold?.(step) : undefined);
  await hold('roll the components');
  await renderComponents(api, { tag, registry, flowLogs, owner, strategy });
  await after(TICK_MS);
  await playApiServer(api, { tag, registry, isNew, moved: () => hold('bring the API server') });
  await hold('write the statuses');
  await writeStatuses(api, state, manner, flowLogs);
}

const FORBIDDEN = 'Error creating / updating resource: secrets "node-certs" is forbidden';

/** What the old operator does while it is being replaced, or cannot be. */
async function beforeItsEnd(api: Api, manner: OperatorManner, generation: number | undefined): Promise<void> {
  if (manner.mode === 'pinned' || manner.mode === 'forbidden')
    await writeStatus(api, 'calico', { generation, why: FORBIDDEN, reason: 'ResourceUpdateError' });
  if (manner.mode !== 'pinned') return;
  const { spec } = await api.get<Workload>(deploymentOf(manner));
  const containers = spec.template.spec.containers.map((one) => ({ ...one, image: one.image.replace(/:[^:]*$/, ':v1.32.12') }));
  await api.send('PATCH', deploymentOf(manner), { spec: { template: { spec: { containers } } } });
}

async function refuse(api: Api, { metadata: { generation } }: ApiObject): Promise<void> {
  const why = 'Invalid Installation provided: this cluster is not of the provider that it names';
  await writeStatus(api, 'calico', { generation, why, reason: 'InvalidConfigurationError', alone: true });
}

async function complain(api: Api): Promise<void> {
  const { metadata } = await api.get<ApiObject>(INSTALLATION);
  const why = 'Unable retrieve Goldmane CR: no matches for kind "Goldmane" in version "operator.tigera.io/v1"';
  await writeStatus(api, 'calico', { generation: metadata.generation, why, reason: 'ResourceReadError', alone: true });
}

/** The release that its Deployment asks for, and the one that runs: undefined while the pod is being replaced. */
async function operatorOf(api: Api, manner: OperatorManner) {
  const operator = await find<Workload>(api, deploymentOf(manner));
  const { observedGeneration, updatedReplicas, replicas, availableReplicas } = operator?.status ?? {};
  const runs = observedGeneration === operator?.metadata.generation && updatedReplicas === replicas && availableReplicas === 1;
  const wanted = operator && RELEASES[imageOf(operator).split(':').at(-1) ?? ''];
  return { wanted, release: runs ? wanted : undefined };
}

async function writeStatuses(api: Api, state: State, { mode }: OperatorManner, flowLogs: boolean): Promise<void> {
  const installation = await api.get<ApiObject>(INSTALLATION);
  const generation = installation.metadata.generation;
  const isNew = state.release === TARGET;
  const missing = await missingComponents(api);
  const flaps = isNew && mode === 'flap' && missing === '' && !state.flapped;
  const others = [
    ...(isNew ? ['tiers'] : []),
    ...(isOlder(state.release, 'v3.30.0') ? [] : ['ippools']),
    ...(flowLogs ? ['goldmane', 'whisker'] : []),
  ];
  for (const name of others)
    await writeStatus(api, name, { generation: name === 'tiers' ? undefined : name === 'ippools' ? generation : 1, why: '' });
  const fails = mode === 'pod-failure' && missing !== '';
  await writeStatus(api, 'calico', { generation, why: missing, ...(fails ? { reason: 'PodFailure' } : {}) });
  const { calicoVersion } = (installation.status ?? {}) as { readonly calicoVersion?: string };
  if (missing === '' && calicoVersion !== state.release)
    await api.send('PATCH', `${INSTALLATION}/status`, { status: { calicoVersion: state.release } });
  if (!flaps) return;
  state.flapped = true;
  const why = 'Error creating / updating resource: networkpolicies.projectcalico.org "calico-system.cluster-dns" already exists';
  await writeStatus(api, 'tiers', { generation: undefined, why, reason: 'ResourceUpdateError' });
}
