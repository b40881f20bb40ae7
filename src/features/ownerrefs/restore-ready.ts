import type { Expectation } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import type { Sources } from '../../kernel/ports.ts';
import { conditionOf } from '../../kube/pod-facts.ts';
import { type PoliciesSettled, pendingNow, policiesSettled } from '../policies/index.ts';
import { readNodes, waitLimit } from '../rollout/index.ts';

/** What has to come first, and the title of the wait for it. */
export interface Awaited {
  readonly until: Expectation;
  readonly title: string;
}

/** What is left of the upgrade before its new API server answers alone: each install path knows its own. */
export type UpgradeWaits = (sources: Sources, context: Context, installation: Installation) => Promise<readonly Awaited[]>;

export interface Readiness {
  readonly waits: readonly Awaited[];
  readonly waitMs: number;
  /** Absent where no policy is ever renamed. */
  readonly settled?: PoliciesSettled;
}

/** The undo comes before the upgrade. */
const nothing: UpgradeWaits = async () => [];

/**
 * What must hold before any new UID is written: new API server pods, an available aggregated API, no policy waiting for its new name
 * (§4.8/3; domain §7.3/4). A UID written too early gets its object deleted.
 */
export async function readReadiness(
  sources: Sources,
  context: Context,
  installation: Installation,
  upgradeWaits: UpgradeWaits = nothing,
): Promise<Readiness> {
  const nodes = await readNodes(sources);
  const settled = await policiesSettled(sources, context, installation);
  const [upgrade, service, pending] = await Promise.all([
    upgradeWaits(sources, context, installation),
    aggregatedApi(sources, context, installation),
    settled ? pendingNow(sources.cluster, settled) : [],
  ]);
  const waits = [
    ...upgrade,
    ...service,
    ...(settled && pending.length > 0 ? [{ until: settled, title: 'wait until stored policies have their new names' }] : []),
  ];
  return { waits, waitMs: waitLimit(context.options, nodes.length), ...(settled ? { settled } : {}) };
}

async function aggregatedApi({ cluster }: Sources, { profile }: Context, { hasApiServer }: Installation): Promise<readonly Awaited[]> {
  if (!hasApiServer) return [];
  const name = `v3.${profile.apiGroup}`;
  const service = await cluster.get(K.APIService, name);
  const isAvailable = conditionOf(service, 'Available')?.status === 'True';
  return isAvailable ? [] : [{ until: { type: 'apiservice-available', names: [name] }, title: 'wait until the new v3 API serves' }];
}
