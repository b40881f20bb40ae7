import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Api, type ApiObject, find, unless } from './api.ts';
import { Crash, type EndpointManner, EndpointSync } from './host-endpoint-sync.ts';
import { type Played, play } from './played.ts';
import { isRolledOut, workload } from './workloads.ts';

const KUBELET = { firstMs: 10_000, mostMs: 300_000 };
const AGAIN_MS = 70;
const STEP_MS = 5_000;
const IN_SYNC_MS = 1_000;

/** The controllers' part that makes automatic host endpoints, on a real API server: process after process, each with one setting. */
export function playEndpointControllers(api: Api, manner: EndpointManner): Played {
  const { firstMs, mostMs } = manner.backOff ?? KUBELET;
  return play(async (signal) => {
    for (let wait = firstMs; !signal.aborted; wait = Math.min(wait * 2, mostMs)) {
      await oneProcess(api, manner, signal);
      await pause(manner.manner === 'new' ? AGAIN_MS : wait, undefined, { signal }).catch(() => undefined);
    }
  });
}

/** From its start to its end: by a new setting, which it tells in the status before it goes, or by a name that it cannot give. */
async function oneProcess(api: Api, manner: EndpointManner, signal: AbortSignal): Promise<void> {
  const taken = await configuration(api, manner);
  const running = runningConfig(taken, manner);
  await tellStatus(api, manner, taken);
  const over = new AbortController();
  const ended = AbortSignal.any([signal, over.signal]);
  const watched = api.follow(
    `${settingsPath(manner)}?fieldSelector=metadata.name%3Ddefault`,
    (live) => {
      if (ended.aborted || isDeepStrictEqual(runningConfig(live, manner), running)) return;
      void tellStatus(api, manner, live)
        .finally(() => over.abort())
        .catch(() => undefined);
    },
    ended,
    // Deleted while it runs: made again at once, switched off.
    () => over.abort(),
  );
  try {
    await mayBegin(api, manner, taken, ended);
    if (!ended.aborted) await new EndpointSync(api, manner, running.on).run(ended);
  } catch (thrown) {
    if (!(thrown instanceof Crash)) throw thrown;
  } finally {
    over.abort();
    await watched;
  }
}

const settingsPath = ({ group }: EndpointManner) => `/apis/crd.${group}/v1/kubecontrollersconfigurations`;

interface Settings {
  readonly controllers?: {
    readonly node?: { readonly hostEndpoint?: Readonly<Record<string, unknown>> };
    readonly policyMigration?: { readonly enabled?: string };
    readonly loadBalancer?: unknown;
  };
}

const specOf = (live: ApiObject): Settings => (live.spec ?? {}) as Settings;

/** Made where there is none: old ones leave host endpoints out of it. */
async function configuration(api: Api, manner: EndpointManner): Promise<ApiObject> {
  const path = settingsPath(manner);
  const hostEndpoint = { autoCreate: 'Disabled', createDefaultHostEndpoint: 'Enabled' };
  const newOnes = { node: { syncLabels: 'Enabled', hostEndpoint }, policyMigration: { enabled: 'Enabled' } };
  const body = {
    apiVersion: `crd.${manner.group}/v1`,
    kind: 'KubeControllersConfiguration',
    metadata: { name: 'default' },
    spec: { controllers: manner.manner === 'old' ? { node: { syncLabels: 'Enabled' } } : newOnes },
  };
  return (await find(api, `${path}/default`)) ?? api.send('POST', path, body);
}

/** The variable beats the setting; case does not matter to it, nor to old ones. */
function runningConfig(live: ApiObject, { manner, environment }: EndpointManner) {
  const { controllers } = specOf(live);
  const { autoCreate, createDefaultHostEndpoint } = controllers?.node?.hostEndpoint ?? {};
  const asked = environment ?? (manner === 'new' && createDefaultHostEndpoint === 'Disabled' ? 'Disabled' : String(autoCreate));
  // Old ones do not know the field by which the renaming is held.
  return { on: asked.toLowerCase() === 'enabled', held: manner === 'new' && controllers?.policyMigration?.enabled === 'Disabled' };
}

/** Who believes it believes too early. The write of an old one drops what it does not know. */
async function tellStatus(api: Api, manner: EndpointManner, live: ApiObject): Promise<void> {
  const { environment } = manner;
  const autoCreate = runningConfig(live, manner).on ? 'Enabled' : 'Disabled';
  // Those of the new manner leave the setting out where the variable switches it off (host endpoint notes 1.5).
  const node = manner.manner === 'new' && environment === 'disabled' ? {} : { hostEndpoint: { autoCreate } };
  const environmentVars = environment === undefined ? {} : { AUTO_HOST_ENDPOINTS: environment };
  const status = { runningConfig: { controllers: { node } }, environmentVars };
  const pruned = manner.manner === 'old' ? { spec: { controllers: unknownToOld(specOf(live)) } } : {};
  const path = `${settingsPath(manner)}/default`;
  // A CRD without the part has no such path; the object may be gone by now.
  await api.send('PATCH', path, { status, ...pruned }).catch(unless(404, 409));
  await api.send('PATCH', `${path}/status`, { status }).catch(unless(404, 409));
}

function unknownToOld({ controllers }: Settings): object {
  const hostEndpoint = Object.keys(controllers?.node?.hostEndpoint ?? {}).filter((field) => field !== 'autoCreate');
  return {
    ...(controllers?.policyMigration === undefined ? {} : { policyMigration: null }),
    ...(controllers?.loadBalancer === undefined ? {} : { loadBalancer: null }),
    ...(hostEndpoint.length === 0 ? {} : { node: { hostEndpoint: Object.fromEntries(hostEndpoint.map((field) => [field, null])) } }),
  };
}

/** New ones look for their agents every five seconds, and do nothing at all before, unless the renaming of policies is held. */
async function mayBegin(api: Api, { manner, agents }: EndpointManner, taken: ApiObject, signal: AbortSignal): Promise<void> {
  if (manner === 'old') return;
  const step = (ms: number) => pause(ms, undefined, { signal }).catch(() => undefined);
  if (specOf(taken).controllers?.policyMigration?.enabled === 'Disabled') return step(200);
  let isWhole = false;
  while (!signal.aborted && !isWhole) {
    await step(STEP_MS);
    const set = await workload(api, 'kube-system', `daemonsets/${agents}`);
    isWhole = set !== undefined && isRolledOut(set);
  }
  await step(IN_SYNC_MS);
}
