import type { Context } from '../../kernel/context.ts';
import { type Installation, isKeyValue } from '../../kernel/installation.ts';
import { textAt } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import { apiVersionOf, groupOf, type KubeObject } from '../../kernel/object.ts';
import type { OperatorCrossings } from '../../kernel/operator-names.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { crosses } from '../../kernel/release.ts';
import { POLICY_KINDS } from '../policies/index.ts';
import { listServed } from '../survey/index.ts';
import { operatorEndNames } from './expectation.ts';

/** What the newer operator has made, and the older one neither makes nor removes: by names and owners that are the operator’s alone. */
export interface NewerOnly {
  /** What it says of components that the older one does not know, and policies that the older one does not have. */
  readonly any: readonly KubeObject[];
  /** Of the API server, where the older one runs it in another namespace: it serves until that one does. */
  readonly api: readonly KubeObject[];
}

const NONE: NewerOnly = { any: [], api: [] };

type Cluster = Pick<Sources['cluster'], 'list' | 'resolve'>;

export async function readNewerOnly(
  { cluster }: { readonly cluster: Cluster },
  context: Context,
  installation: Installation,
): Promise<NewerOnly> {
  const { takesBack } = context.goal;
  if (!takesBack) return NONE;
  const [statuses, policies, api] = await Promise.all([
    readStatuses(cluster, context),
    isKeyValue(installation) ? [] : readGuards(cluster, context),
    readMovedApi(cluster, context),
  ]);
  return { any: [...statuses, ...policies], api };
}

/** They would keep what the newer operator said last, and stand against the next upgrade. */
async function readStatuses(cluster: Cluster, { profile, goal }: Context): Promise<readonly KubeObject[]> {
  const { end, installationKind } = profile.operator;
  const older = operatorEndNames(profile, undefined, goal.release)?.statuses;
  if (!end || !older) return [];
  const unknown = end.statuses.filter(({ name }) => older.every((one) => one.name !== name)).map(({ name }) => name);
  if (unknown.length === 0) return [];
  const all = await served(cluster, apiVersionOf(installationKind), end.statusKind);
  return all.filter(({ metadata }) => unknown.includes(metadata.name));
}

/** Policies in the operator's own tier: what denies goes first, and the tier itself once nothing else is in it. */
async function readGuards(cluster: Cluster, { profile, goal: { release, takesBack } }: Context): Promise<readonly KubeObject[]> {
  const guarded = profile.operator.crossings?.guarded;
  if (!guarded || !takesBack || !crosses(release, takesBack.to, guarded.since)) return [];
  const list = (kind: string) => served(cluster, `${profile.crdGroup}/v1`, kind);
  const [tiers, ...lists] = await Promise.all(['Tier', ...POLICY_KINDS].map(list));
  const inTier = lists.flat().filter(({ spec }) => textAt(spec, 'tier') === guarded.tier);
  const [own, others] = [true, false].map((is) => inTier.filter((one) => isOwn(one, guarded) === is));
  const tier = (tiers ?? []).filter(({ metadata }) => metadata.name === guarded.tier);
  return [...(own ?? []).toSorted((a, b) => rank(a, guarded) - rank(b, guarded)), ...((others ?? []).length === 0 ? tier : [])];
}

type Guarded = NonNullable<OperatorCrossings['guarded']>;

const isOwn = ({ kind, metadata }: KubeObject, { tier, policies }: Guarded): boolean =>
  !kind.startsWith('Staged') && policies.some((name) => metadata.name === `${tier}.${name}`);

const rank = ({ metadata }: KubeObject, { tier, policies }: Guarded): number =>
  policies.findIndex((name) => metadata.name === `${tier}.${name}`);

/** In the order in which they go. Secrets stay. */
const OF_API = [K.Deployment, K.PodDisruptionBudget, K.Service, K.RoleBinding, K.ServiceAccount];

async function readMovedApi(cluster: Cluster, { profile, goal }: Context): Promise<readonly KubeObject[]> {
  const { operator } = profile;
  const api = operatorEndNames(profile, undefined, goal.release)?.api;
  if (!operator.end || !api || api.namespace === operator.end.api.namespace) return [];
  const lists = await Promise.all(
    OF_API.map(async (kind) => {
      const all = await cluster.list(kind, { namespace: operator.workloadNamespace });
      return all.map((one) => ({ ...one, apiVersion: apiVersionOf(kind), kind: kind.kind }));
    }),
  );
  return lists.flat().filter((one) => isOwnedBy(one, operator, api.kind));
}

function isOwnedBy({ metadata }: KubeObject, { installationKind }: Profile['operator'], kind: string): boolean {
  return metadata.ownerReferences?.some((owner) => owner.kind === kind && groupOf(owner.apiVersion) === installationKind.group) === true;
}

/** Items of a list do not say what they are. */
async function served(cluster: Cluster, apiVersion: string, kind: string): Promise<readonly KubeObject[]> {
  return (await listServed(cluster, apiVersion, kind)).map((one) => ({ ...one, apiVersion, kind }));
}
