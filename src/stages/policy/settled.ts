import type { PoliciesSettled } from '../../core/action.ts';
import type { Context } from '../../core/context.ts';
import type { Installation } from '../../core/installation.ts';
import { pendingRenames, valueAt } from '../../core/policy-renames.ts';
import type { Sources } from '../../core/ports.ts';
import { isOlder } from '../../core/release.ts';
import { leanPolicy, POLICY_KINDS } from '../owners/world.ts';
import { attempt } from '../reading.ts';

/** Undefined if the controllers of the target never rename: no such rule, or no DaemonSet of the name that they wait for. */
export async function policiesSettled(
  { cluster }: Pick<Sources, 'cluster'>,
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

/** True if the controllers will rename a stored policy: one waits for its new name, and nobody holds that. */
export async function isPending({ cluster }: Pick<Sources, 'cluster'>, settled: PoliciesSettled): Promise<boolean> {
  const { hold } = settled;
  if (hold && valueAt(await cluster.get(hold.kind, hold.name), hold.field) === 'Disabled') return false;
  return waitsForName(cluster, settled);
}

/**
 * True if a stored policy has not its own name, whatever release is there by now, and though the renaming may be held: releasing the
 * hold is all that it takes then, and no command of ours does that. `--hold-policy-migration` says that nobody will.
 */
export async function mayBeRenamed(sources: Sources, context: Context, installation: Installation): Promise<boolean> {
  const settled = context.options.holdPolicyMigration ? undefined : await policiesSettled(sources, context, installation);
  if (!settled) return false;
  const found = await attempt(() => waitsForName(sources.cluster, settled));
  return 'unread' in found || found.value;
}

async function waitsForName(cluster: Sources['cluster'], settled: PoliciesSettled): Promise<boolean> {
  const lists = await Promise.all(settled.kinds.map((kind) => cluster.list(kind, { keep: leanPolicy })));
  return pendingRenames(lists.flat(), settled).length > 0;
}
