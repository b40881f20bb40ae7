import type { Expectation, PoliciesSettled } from '../core/action.ts';
import type { Context } from '../core/context.ts';
import type { Installation } from '../core/installation.ts';
import { K } from '../core/kinds.ts';
import { pendingRenames, valueAt } from '../core/policy-renames.ts';
import type { Sources } from '../core/ports.ts';
import { isOlder } from '../core/release.ts';
import { chartOperatorImage } from './chart-wait.ts';
import { type OperatorImageOf, readExpectation, stillBringing } from './operator-end.ts';
import { operatorImage } from './operator-target.ts';
import { leanPolicy, POLICY_KINDS } from './owner-world.ts';
import { readNodes, readRollouts } from './rollout-state.ts';
import { defaultWaitMs, rolloutTargets } from './rollout-targets.ts';
import { addOnsOf, readTarget, variantOf } from './target.ts';

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

/** Undefined if the controllers of the target never rename: no such rule, or no DaemonSet of the name that they wait for. */
async function policiesSettled(
  { cluster }: Sources,
  { profile, options }: Context,
  { agent }: Installation,
): Promise<PoliciesSettled | undefined> {
  const { policyRenaming, apiGroup, crdGroup, controllersConfiguration } = profile;
  if (!policyRenaming || isOlder(options.release, policyRenaming.since)) return undefined;
  if (policyRenaming.waitsFor !== undefined && agent !== undefined && agent.name !== policyRenaming.waitsFor) return undefined;
  const { kinds } = await cluster.discover();
  const stored = kinds.filter(({ group, plural }) => group === crdGroup && !plural.includes('/'));
  const configuration = stored.find(({ plural }) => plural === controllersConfiguration.plural);
  return {
    type: 'policies-settled',
    kinds: stored.filter(({ kind }) => POLICY_KINDS.has(kind)),
    apiGroup,
    prefix: policyRenaming.prefix,
    ...(configuration ? { hold: { kind: configuration, name: controllersConfiguration.name, field: policyRenaming.switchField } } : {}),
  };
}

async function isPending({ cluster }: Sources, settled: PoliciesSettled): Promise<boolean> {
  const { hold, kinds } = settled;
  if (hold && valueAt(await cluster.get(hold.kind, hold.name), hold.field) === 'Disabled') return false;
  const lists = await Promise.all(kinds.map((kind) => cluster.list(kind, { keep: leanPolicy })));
  return pendingRenames(lists.flat(), settled).length > 0;
}
