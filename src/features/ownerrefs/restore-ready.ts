import type { Expectation, PoliciesSettled } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import type { Sources } from '../../kernel/ports.ts';
import { chartOperatorImage } from '../install-chart/wait.ts';
import { addOnsOf, readTarget, variantOf } from '../install-manifest/target.ts';
import { type OperatorImageOf, readExpectation, stillBringing } from '../install-operator/end.ts';
import { operatorImage } from '../install-operator/target.ts';
import { valueAt } from '../policies/policy-renames.ts';
import { isPending, policiesSettled } from '../policies/settled.ts';
import { readNodes, readRollouts } from '../rollout/state.ts';
import { defaultWaitMs, rolloutTargets } from '../rollout/targets.ts';

export interface Readiness {
  readonly waits: readonly Expectation[];
  readonly waitMs: number;
  /** Absent where no policy is ever renamed. */
  readonly settled?: PoliciesSettled;
}

/**
 * What must be true before any new UID may be written: every pod of the API server is new, the aggregated API is available, and
 * no policy waits for its new name (§4.8/3; domain §7.3/4). A UID that is written too early gets its object deleted.
 */
export async function readReadiness(sources: Sources, context: Context, installation: Installation): Promise<Readiness> {
  const nodes = await readNodes(sources);
  const settled = await policiesSettled(sources, context, installation);
  const [rollout, operator, service, pending] = await Promise.all([
    apiServerRollout(sources, context, installation),
    operatorsWork(sources, context, installation),
    aggregatedApi(sources, context, installation),
    settled ? isPending(sources, settled) : false,
  ]);
  const waits = [...rollout, ...operator, ...service, ...(pending && settled ? [settled] : [])];
  return { waits, waitMs: context.options.timeoutMs ?? defaultWaitMs(nodes.length), ...(settled ? { settled } : {}) };
}

async function apiServerRollout(sources: Sources, context: Context, installation: Installation): Promise<readonly Expectation[]> {
  if (!installation.hasApiServer || !['manifest', 'kvstore'].includes(installation.path)) return [];
  const target = await readTarget(sources, context, installation);
  const addOns = target.addOns.flatMap(({ id, manifest }) => {
    const addOn = id === 'apiserver' ? addOnsOf(context, installation).find((one) => one.id === id) : undefined;
    return addOn ? [{ addOn, documents: manifest.documents.map(({ object }) => object) }] : [];
  });
  const own = rolloutTargets(variantOf(context, installation), { documents: [] }, addOns);
  const progress = await readRollouts(sources, own, await readNodes(sources));
  const open = progress.filter(({ done }) => !done).map(({ target: one }) => one);
  return open.length === 0 ? [] : [{ type: 'rollout', targets: open, maxFailed: context.options.maxFailed }];
}

const IMAGES: Readonly<Partial<Record<Installation['path'], OperatorImageOf>>> = { operator: operatorImage, chart: chartOperatorImage };

/** Where an operator moves the API server: whether all its pods are new is part of the rule for the end of the whole upgrade (§4.3/2). */
async function operatorsWork(sources: Sources, context: Context, installation: Installation): Promise<readonly Expectation[]> {
  const imageOf = IMAGES[installation.path];
  // With --undo nothing is waited for.
  if (!installation.hasApiServer || imageOf === undefined || context.options.undo) return [];
  const until = await readExpectation(sources, context, installation, imageOf);
  return (await stillBringing(sources, until)) ? [until] : [];
}

async function aggregatedApi({ cluster }: Sources, { profile }: Context, { hasApiServer }: Installation): Promise<readonly Expectation[]> {
  if (!hasApiServer) return [];
  const name = `v3.${profile.apiGroup}`;
  const service = await cluster.get(K.APIService, name);
  const conditions = valueAt(service, 'status.conditions') as readonly { readonly type: string; readonly status: string }[] | undefined;
  const isAvailable = conditions?.some(({ type, status }) => type === 'Available' && status === 'True') ?? false;
  return isAvailable ? [] : [{ type: 'apiservice-available', names: [name] }];
}
