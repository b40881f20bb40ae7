import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { Kind, KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { isOlder } from '../../kernel/release.ts';

import { attempt } from '../survey/index.ts';
import { asksStoredNames, neverRenames, POLICY_KINDS, type PoliciesSettled, pendingNow, valueAt } from './stored-policies.ts';

/** Undefined if the controllers of the target never rename: no such rule, a key-value store, or no DaemonSet of the name that they wait for. */
export async function policiesSettled(
  { cluster }: Pick<Sources, 'cluster'>,
  { profile, goal }: Context,
  installation: Installation,
): Promise<PoliciesSettled | undefined> {
  const { policyRenaming, apiGroup, crdGroup, controllersConfiguration } = profile;
  if (!policyRenaming || isOlder(goal.release, policyRenaming.since)) return undefined;
  if (neverRenames(installation, profile) !== undefined) return undefined;
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

/**
 * True if a stored policy does not have its own name, under any release. When the controllers rename it, references to it become dangling;
 * until then the target's API server does not find it by its name.
 */
export async function keepsOldNames(cluster: Sources['cluster'], context: Context): Promise<boolean> {
  const { policyRenaming, apiGroup, crdGroup } = context.profile;
  if (!policyRenaming || !asksStoredNames(context)) return false;
  const { kinds } = await cluster.discover();
  const found = await attempt(() => pendingNow(cluster, { kinds: policiesIn(kinds, crdGroup), apiGroup, prefix: policyRenaming.prefix }));
  return 'unread' in found || found.value.length > 0;
}

function policiesIn(kinds: readonly Kind[], crdGroup: string): readonly Kind[] {
  return kinds.filter(({ group, kind, plural }) => group === crdGroup && !plural.includes('/') && POLICY_KINDS.has(kind));
}

declare module '../../kernel/context.ts' {
  interface Options {
    readonly holdPolicyMigration?: boolean;
  }
}

/** The controllers' configuration as it is now: the switch of the renaming is in it. */
export interface RenamingSwitch {
  readonly kind: Kind;
  readonly configuration: KubeObject;
}

/** Undefined where the cluster has no such object yet. */
export async function readRenamingSwitch({ cluster }: Sources, { profile }: Context): Promise<RenamingSwitch | undefined> {
  const { plural, kind, name } = profile.controllersConfiguration;
  const resource = await cluster.resolve(`${profile.crdGroup}/v1`, kind);
  const configuration = resource?.plural === plural ? await cluster.get(resource, name) : undefined;
  return resource && configuration ? { kind: resource, configuration } : undefined;
}

/**
 * `--hold-policy-migration`: disables the renaming before the new controllers start and checks that the cluster kept it. It is written
 * again right before their wave: older releases erase it, and waiting for the agents may take hours (host endpoint notes 0.7).
 */
export function holdPolicyMigration(found: RenamingSwitch | undefined, { profile, goal, options }: Context): readonly Action[] {
  const { policyRenaming, controllersConfiguration, crdGroup } = profile;
  if (!options.holdPolicyMigration || !policyRenaming || isOlder(goal.release, policyRenaming.since)) return [];
  const { kind, name, plural } = controllersConfiguration;
  if (!found) {
    throw new Fault('blocked', `${kind}/${name} does not exist: the renaming of policies cannot be held before the controllers start`, [
      'create it (any running controllers do), or leave out --hold-policy-migration',
    ]);
  }
  const field = policyRenaming.switchField;
  const args = ['patch', `${plural}.${crdGroup}`, name, '--type=merge', '-p', JSON.stringify(nested(field.split('.'), 'Disabled'))];
  const common = { ref: 'domain §0.6b', undo: 'full' } as const;
  return [
    {
      ...{ id: 'hold-policies', title: 'keep the new controllers from renaming stored policies', ...common },
      effect: { type: 'exec', run: { tool: 'kubectl', args } },
    },
    {
      ...{ id: 'held-policies', title: 'make sure that the cluster has kept that', ...common },
      effect: { type: 'wait', until: { type: 'renaming-held', kind: found.kind, name, field }, timeoutMs: 10_000 },
    },
  ];
}

/** The same if it is not disabled yet and no controllers are about to start, or the stage re-checks before that. */
export function holdUnlessHeld(found: RenamingSwitch | undefined, context: Context): readonly Action[] {
  const { policyRenaming } = context.profile;
  const isHeld = policyRenaming && found && valueAt(found.configuration, policyRenaming.switchField) === 'Disabled';
  return isHeld ? [] : holdPolicyMigration(found, context);
}

/** What the user of the hold must know: references to these policies that were not removed break when it is released. */
export function holdNotes({ options }: Context): readonly string[] {
  if (!options.holdPolicyMigration) return [];
  return [
    'stored policies keep their old names until you release the hold. Before you do: ownerrefs strip; after it: ownerrefs restore, which waits for the new names',
  ];
}

function nested(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>((inner, field) => ({ [field]: inner }), value);
}
