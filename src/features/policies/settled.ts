import type { Action } from '../../kernel/action.ts';
import { command } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import { type Installation, isKeyValue } from '../../kernel/installation.ts';
import { pointerTo, sameValue } from '../../kernel/json.ts';
import type { Kind, KubeObject, ObjectChange } from '../../kernel/object.ts';
import { type ChangedPlace, changedPlaces, changeTo, isUndone, keptChanges, putOp, standing } from '../../kernel/object-change.ts';
import type { Sources } from '../../kernel/ports.ts';
import { isOlder } from '../../kernel/release.ts';
import type { RunRecord } from '../../kernel/run-record.ts';
import { type Said, text } from '../../kernel/step.ts';
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
  /** What this run wrote there, if that is there now. */
  readonly ours?: ChangedPlace;
}

/** The stages that write it, by whose id it is kept. */
const STAGE = 'apply';

/** Undefined where the cluster has no such object yet. */
export async function readRenamingSwitch(
  { cluster, records }: Sources,
  { profile }: Context,
  record: RunRecord | undefined,
): Promise<RenamingSwitch | undefined> {
  const { plural, kind, name } = profile.controllersConfiguration;
  const resource = await cluster.resolve(`${profile.crdGroup}/v1`, kind);
  const configuration = resource?.plural === plural ? await cluster.get(resource, name) : undefined;
  if (!resource || !configuration) return undefined;
  const isDisabled = profile.policyRenaming && valueAt(configuration, profile.policyRenaming.switchField) === 'Disabled';
  const isOpen = record !== undefined && record.finishedAt === undefined;
  // A run that was killed right behind it holds it again, which changes nothing.
  const isHold = ({ ref, before, after }: ObjectChange) => ref.kind === kind && !sameValue(before, after);
  const kept = isDisabled && isOpen ? changedPlaces(await keptChanges(records, STAGE, isHold)) : [];
  const ours = kept.find((one) => one.ref.name === name && !isUndone(one) && standing(one, configuration) === 'ours');
  return { kind: resource, configuration, ...(ours ? { ours } : {}) };
}

/** Throws Fault('usage') where `--until controllers` would hold nothing. */
export function refuseVainHold(installation: Installation, { options }: Context): void {
  if (!options.holdPolicyMigration || !isKeyValue(installation)) return;
  throw new Fault('usage', '--until controllers holds nothing here: policies in a key-value store are not renamed', [
    'leave out --until controllers',
  ]);
}

/**
 * `--until controllers`: disables the renaming before the new controllers start and checks that the cluster kept it. It is written
 * again right before their wave: older releases erase it, and waiting for the agents may take hours (host endpoint notes 0.7).
 */
export function holdPolicyMigration(found: RenamingSwitch | undefined, { profile, goal, options }: Context): readonly Action[] {
  const { policyRenaming, controllersConfiguration, crdGroup } = profile;
  if (!options.holdPolicyMigration || !policyRenaming || isOlder(goal.release, policyRenaming.since)) return [];
  const { kind, name, plural } = controllersConfiguration;
  if (!found) {
    throw new Fault('blocked', `${kind}/${name} does not exist: the renaming of policies cannot be held before the controllers start`, [
      'create it (any running controllers do), or leave out --until controllers',
    ]);
  }
  const field = policyRenaming.switchField;
  const change = changeTo(found.configuration, { [pointerTo(...field.split('.'))]: 'Disabled' });
  const args = ['patch', `${plural}.${crdGroup}`, name, '--type=merge', '-p', JSON.stringify(nested(field.split('.'), 'Disabled'))];
  const common = { ref: 'domain §0.6b', undo: 'full' } as const;
  return [
    {
      ...{ id: 'hold-policies', title: 'keep the new controllers from renaming stored policies', ...common },
      keep: { changes: [change] },
      effect: { type: 'exec', run: { tool: 'kubectl', args }, canAsk: true },
    },
    {
      ...{ id: 'held-policies', title: 'make sure that the cluster has kept that', ...common },
      effect: { type: 'wait', until: { type: 'renaming-held', kind: found.kind, name, field }, timeoutMs: 10_000 },
    },
  ];
}

/** What an earlier part of this run held is released: from then on the controllers rename. */
function releasePolicyMigration({ configuration, ours }: RenamingSwitch, { profile }: Context): readonly Action[] {
  if (!ours) return [];
  const { controllersConfiguration, crdGroup } = profile;
  const { plural, name } = controllersConfiguration;
  const patch = JSON.stringify([putOp(configuration, ours.place, ours.before)]);
  const back = {
    ref: ours.ref,
    before: { [ours.place]: ours.after },
    after: ours.before === undefined ? {} : { [ours.place]: ours.before },
  };
  return [
    {
      ...{
        id: 'release-policies',
        title: 'let the controllers rename stored policies',
        ref: 'domain §0.6b',
        undo: 'partial',
        afresh: true,
      },
      keep: { changes: [back], undo: true },
      effect: {
        type: 'exec',
        run: { tool: 'kubectl', args: ['patch', `${plural}.${crdGroup}`, name, '--type=json', '-p', patch] },
        canAsk: true,
      },
    },
  ];
}

/** The hold if it is not there yet and no controllers are about to start, or the stage re-checks before that; without one, its release. */
export function holdOrRelease(found: RenamingSwitch | undefined, context: Context): readonly Action[] {
  if (found && !context.options.holdPolicyMigration) return releasePolicyMigration(found, context);
  const { policyRenaming } = context.profile;
  const isHeld = policyRenaming && found && valueAt(found.configuration, policyRenaming.switchField) === 'Disabled';
  return isHeld ? [] : holdPolicyMigration(found, context);
}

/** What the user of the hold must know: references to these policies that were not removed break when it is released. */
export function holdNotes({ options }: Context): readonly Said[] {
  if (!options.holdPolicyMigration) return [];
  return [
    text`stored policies keep their old names, and removed owner references stay removed, until: ${command`kubectl netsvc-upgrade commit`}`,
  ];
}

function nested(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>((inner, field) => ({ [field]: inner }), value);
}
