import { setTimeout as pause } from 'node:timers/promises';
import { type Api, ApiError, type ApiList, type ApiObject } from './api.ts';
import { POLICIES, servedName } from './service-objects.ts';

/** Whose controllers are played. */
export interface MigrationManner {
  /** v3 group: `projectcalico.org`. */
  readonly group: string;
  /** Where agents and controllers run; `kube-system` unless said. */
  readonly namespace?: string;
  /** The agents' DaemonSet: nothing is migrated before it is rolled out, nor ever without it. */
  readonly agents: string;
  /** The controllers' Deployment: only its pods of v3.32 and newer migrate. Always, if there is none named. */
  readonly controllers?: string;
}

export interface PolicyMigration {
  /** Names that were stored anew, in order, as `NAMESPACE/OLD`. */
  readonly migrated: readonly string[];
  stop(): Promise<void>;
}

/** The real ones look every five seconds for the agents, every second for policies. */
const LOOK_EVERY_MS = 250;
const PER_POLICY_MS = 8;

/** The part of the controllers of v3.32 that stores policies under their new names, as it was seen: create the new one, delete the old one. */
export function playPolicyMigration(api: Api, manner: MigrationManner): PolicyMigration {
  const end = new AbortController();
  const migrated: string[] = [];
  const done = (async () => {
    while (!end.signal.aborted) {
      await look(api, manner, migrated).catch(nextTime);
      await pause(LOOK_EVERY_MS);
    }
  })();
  return {
    migrated,
    async stop() {
      end.abort();
      await done;
    },
  };
}

async function look(api: Api, manner: MigrationManner, migrated: string[]): Promise<void> {
  if (await mayMigrate(api, manner)) await migratePolicies(api, manner.group, migrated);
}

/** New CRDs make the server refuse for a moment, and an answer may be lost: it is looked at again. */
function nextTime(thrown: unknown): void {
  if (thrown instanceof ApiError && thrown.status !== 429 && thrown.status < 500) throw thrown;
}

/** As far as controllers look at it. */
export interface DaemonSet {
  readonly metadata: { readonly generation: number };
  readonly status?: Readonly<Partial<Record<string, number>>>;
}
interface Deployment {
  readonly metadata: { readonly generation: number };
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } } };
  readonly status?: { readonly observedGeneration?: number; readonly updatedReplicas?: number; readonly availableReplicas?: number };
}

async function mayMigrate(api: Api, { group, namespace = 'kube-system', agents, controllers }: MigrationManner): Promise<boolean> {
  const apps = `/apis/apps/v1/namespaces/${namespace}`;
  const set = await found(api.get<DaemonSet>(`${apps}/daemonsets/${agents}`));
  if (!set || !isRolledOut(set)) return false;
  if (controllers !== undefined) {
    const deployment = await found(api.get<Deployment>(`${apps}/deployments/${controllers}`));
    if (!deployment || !runsMigrator(deployment)) return false;
  }
  const settings = await found(api.get<ApiObject>(`/apis/crd.${group}/v1/kubecontrollersconfigurations/default`));
  const spec = settings?.spec as { readonly controllers?: { readonly policyMigration?: { readonly enabled?: string } } } | undefined;
  return spec?.controllers?.policyMigration?.enabled !== 'Disabled';
}

/** As the controllers of v3.32 want it before they begin. */
export function isRolledOut({ metadata, status = {} }: DaemonSet): boolean {
  const { observedGeneration = 0, desiredNumberScheduled: wanted = 0, currentNumberScheduled, updatedNumberScheduled } = status;
  if (observedGeneration < metadata.generation || currentNumberScheduled !== wanted || (updatedNumberScheduled ?? 0) !== wanted)
    return false;
  return (status.numberUnavailable ?? 0) === 0 && (status.numberMisscheduled ?? 0) === 0;
}

/** v3.32 is the first release that migrates. */
function runsMigrator({ metadata, spec, status = {} }: Deployment): boolean {
  const [, major = '0', minor = '0'] = /:v(\d+)\.(\d+)\./.exec(spec.template.spec.containers[0]?.image ?? '') ?? [];
  const runs =
    (status.observedGeneration ?? 0) >= metadata.generation && (status.updatedReplicas ?? 0) > 0 && (status.availableReplicas ?? 0) > 0;
  return runs && Number(major) === 3 && Number(minor) >= 32;
}

/** Stores every policy that is pending under its new name, whoever runs; their names are added as each is done. */
export async function migratePolicies(api: Api, group: string, migrated: string[] = []): Promise<void> {
  for (const plural of POLICIES) {
    const list = await found(api.get<ApiList & { readonly kind: string }>(`/apis/crd.${group}/v1/${plural}`));
    for (const policy of list?.items ?? []) {
      const name = servedName(policy, group, plural);
      if (name === policy.metadata.name || !isOfDefaultTier(policy)) continue;
      await migrate(api, { group, plural, policy, name, kind: list?.kind.replace(/List$/, '') ?? '' });
      migrated.push(`${policy.metadata.namespace ?? ''}/${policy.metadata.name}`);
      await pause(PER_POLICY_MS);
    }
  }
}

function isOfDefaultTier({ spec }: ApiObject): boolean {
  const { tier = 'default' } = (spec ?? {}) as { readonly tier?: string };
  return tier === 'default';
}

interface Move {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  readonly policy: ApiObject;
  readonly name: string;
}

/** An object that is there already stays as it is; the old one goes whatever it holds. */
async function migrate(api: Api, { group, plural, kind, policy, name }: Move): Promise<void> {
  const { namespace, labels, annotations, ownerReferences } = policy.metadata;
  const place = `/apis/crd.${group}/v1/${namespace === undefined ? '' : `namespaces/${namespace}/`}${plural}`;
  const noted = JSON.parse((annotations as Record<string, string>)[`${group}/metadata`] ?? '{}') as {
    readonly creationTimestamp?: unknown;
  };
  // Where none is noted, the service's library reads the stored object's, and the copy notes it.
  const creationTimestamp = noted.creationTimestamp ?? policy.metadata.creationTimestamp;
  const metadata = {
    ...{ name, namespace, ownerReferences, labels: { ...(labels as object | undefined), [`${group}/tier`]: 'default' } },
    annotations: { ...(annotations as object), [`${group}/metadata`]: JSON.stringify({ ...noted, name, creationTimestamp }) },
  };
  const spec = { ...(policy.spec as object), tier: 'default' };
  try {
    await api.send('POST', place, { apiVersion: `crd.${group}/v1`, kind, metadata, spec });
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || thrown.status !== 409) throw thrown;
  }
  await found(api.send('DELETE', `${place}/${policy.metadata.name}`));
}

/** Undefined for what is not there. */
async function found<T>(asked: Promise<T>): Promise<T | undefined> {
  return asked.catch((thrown: unknown) => {
    if (thrown instanceof ApiError && thrown.status === 404) return undefined;
    throw thrown;
  });
}
