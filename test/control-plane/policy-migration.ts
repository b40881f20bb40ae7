import { setTimeout as pause } from 'node:timers/promises';
import { type Api, type ApiList, type ApiObject, find, unless, unlessGone } from './api.ts';
import { playByLooking } from './played.ts';
import { POLICIES, servedName, storedOf } from './service-objects.ts';
import { isRolledOut, runningImage, workload } from './workloads.ts';

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

/** `migrated`: names that were stored anew, in order, as `NAMESPACE/OLD`. */
export type PolicyMigration = ReturnType<typeof playPolicyMigration>;

/** The real ones look every five seconds for the agents, every second for policies. */
const LOOK_EVERY_MS = 250;
const PER_POLICY_MS = 8;

/** The part of the controllers of v3.32 that stores policies under their new names, as it was seen: create the new one, delete the old one. */
export function playPolicyMigration(api: Api, manner: MigrationManner) {
  const migrated: string[] = [];
  const look = async () => (await mayMigrate(api, manner)) && migratePolicies(api, manner.group, migrated);
  return { migrated, ...playByLooking(LOOK_EVERY_MS, look) };
}

async function mayMigrate(api: Api, { group, namespace = 'kube-system', agents, controllers }: MigrationManner): Promise<boolean> {
  const set = await workload(api, namespace, `daemonsets/${agents}`);
  if (!set || !isRolledOut(set)) return false;
  if (controllers !== undefined) {
    const deployment = await workload(api, namespace, `deployments/${controllers}`);
    // v3.32 is the first release that migrates.
    const [, minor = 0] = /:v3\.(\d+)\./.exec((deployment && runningImage(deployment)) ?? '') ?? [];
    if (Number(minor) < 32) return false;
  }
  const settings = await find(api, `/apis/crd.${group}/v1/kubecontrollersconfigurations/default`);
  const spec = settings?.spec as { readonly controllers?: { readonly policyMigration?: { readonly enabled?: string } } } | undefined;
  return spec?.controllers?.policyMigration?.enabled !== 'Disabled';
}

/** Stores every policy that is pending under its new name, whoever runs; their names are added as each is done. */
export async function migratePolicies(api: Api, group: string, migrated: string[] = []): Promise<void> {
  for (const plural of POLICIES) {
    const list = await find<ApiList & { readonly kind: string }>(api, `/apis/crd.${group}/v1/${plural}`);
    const kind = list?.kind.replace(/List$/, '');
    for (const policy of list?.items ?? []) {
      const name = servedName(policy, group, plural);
      const { tier = 'default' } = (policy.spec ?? {}) as { readonly tier?: string };
      if (name === policy.metadata.name || tier !== 'default') continue;
      const { namespace } = policy.metadata;
      const place = `/apis/crd.${group}/v1/${namespace === undefined ? '' : `namespaces/${namespace}/`}${plural}`;
      // An object that is there already stays as it is; the old one goes whatever it holds.
      await api.send('POST', place, { ...renamed(policy, name, group), kind }).catch(unless(409));
      await api.send('DELETE', `${place}/${policy.metadata.name}`).catch(unlessGone);
      migrated.push(`${namespace ?? ''}/${policy.metadata.name}`);
      await pause(PER_POLICY_MS);
    }
  }
}

function renamed({ metadata, spec }: ApiObject, name: string, group: string): object {
  const { namespace, labels, annotations, ownerReferences } = metadata;
  const noted = storedOf({ metadata }, group);
  // Where none is noted, the service's library reads the stored object's, and the copy notes it.
  const creationTimestamp = noted?.creationTimestamp ?? metadata.creationTimestamp;
  return {
    apiVersion: `crd.${group}/v1`,
    metadata: {
      ...{ name, namespace, ownerReferences, labels: { ...labels, [`${group}/tier`]: 'default' } },
      annotations: { ...annotations, [`${group}/metadata`]: JSON.stringify({ ...noted, name, creationTimestamp }) },
    },
    spec: { ...(spec as object), tier: 'default' },
  };
}
