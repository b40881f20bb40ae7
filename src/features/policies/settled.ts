import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { Kind } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { isOlder } from '../../kernel/release.ts';
import { attempt } from '../survey/index.ts';
import type { PoliciesSettled } from './effects.ts';
import { asksStoredNames, leanPolicy, POLICY_KINDS, pendingRenames, valueAt } from './stored-policies.ts';

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
  const configuration = kinds.find(({ group, plural }) => group === crdGroup && plural === controllersConfiguration.plural);
  return {
    type: 'policies-settled',
    kinds: policiesIn(kinds, crdGroup),
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
 * True if a stored policy does not have its own name, under any release. When the controllers rename it, references to it become dangling;
 * until then the target's API server does not find it by its name.
 */
export async function keepsOldNames(cluster: Sources['cluster'], { profile, options }: Context): Promise<boolean> {
  const { policyRenaming, apiGroup, crdGroup } = profile;
  if (!policyRenaming || !asksStoredNames({ profile, options })) return false;
  const { kinds } = await cluster.discover();
  const found = await attempt(() => waitsForName(cluster, { kinds: policiesIn(kinds, crdGroup), apiGroup, prefix: policyRenaming.prefix }));
  return 'unread' in found || found.value;
}

function policiesIn(kinds: readonly Kind[], crdGroup: string): readonly Kind[] {
  return kinds.filter(({ group, kind, plural }) => group === crdGroup && !plural.includes('/') && POLICY_KINDS.has(kind));
}

async function waitsForName(
  cluster: Sources['cluster'],
  { kinds, ...names }: Pick<PoliciesSettled, 'kinds' | 'apiGroup' | 'prefix'>,
): Promise<boolean> {
  const lists = await Promise.all(kinds.map((kind) => cluster.list(kind, { keep: leanPolicy })));
  return pendingRenames(lists.flat(), names).length > 0;
}
