import type { Action, GuardedPatch } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { counted, firstOf } from '../../kernel/counted.ts';
import { isKeyValue } from '../../kernel/installation.ts';
import { type ObjectRef, type Places, refOf } from '../../kernel/object.ts';
import type { StagePlan } from '../../kernel/stage.ts';
import { servedObject } from '../../kube/stored-metadata.ts';
import { hostEndpointOf, originOf } from '../policy-rules/index.ts';
import { cliWrite } from '../service-cli/index.ts';
import { endpointText, formerSwitch, gone, isOurs, stillThere, toRecreate } from './allowed.ts';
import { settingOf, sourceOf, switchCall } from './endpoints.ts';
import type { HepFacts, HepJudged } from './facts.ts';
import { type AddedLabel, keptEndpoints, switchTo } from './kept.ts';
import { missingSettings, overrideOf } from './obstacles.ts';
import type { WayBackExpected } from './successor-stands.ts';

/**
 * The undo: old endpoints, then the setting, then added labels, each only if it is still as the migration left it, checked right before.
 * Planned from what was kept before each change, so it can be repeated.
 */
export function undoPlan(facts: HepFacts, context: Context): StagePlan {
  if (facts.kept.length === 0) return { skip: 'no migration to automatic host endpoints was recorded on this cluster' };
  if ('missing' in facts.cli && undoNeedsCli(facts, context))
    return { skip: `${context.profile.cli.program} cannot be used: ${facts.cli.missing}` };
  if (oldOnesFirst(facts, context)) {
    const first = recreate(facts, context);
    return { actions: first, notes: [...shown(first), hasMore(facts, context) ? THEN_STOPS : STAY_ON], again: true };
  }
  const actions = [...recreate(facts, context), ...resetSetting(facts, context), ...removeLabels(facts, context)];
  return actions.length > 0
    ? { actions, notes: [...shown(actions), ...bare(facts, context)] }
    : { skip: 'everything that the migration changed is as it was before' };
}

/** What is put back is read before it is written: the steps of a plan show calls of the CLI alone. */
const shown = (actions: readonly Action[]): readonly string[] => actions.map(({ title }) => title);

/** Hosts that have nothing but the automatic endpoint, which goes: they joined since, or never had one of the user's. */
function bare(facts: HepFacts, context: Context): readonly string[] {
  if (!formerSwitch(facts, context)) return [];
  const { apiGroup, labels } = context.profile;
  const again = toRecreate(facts, context).map(({ endpoint }) => endpoint);
  const stay = [...facts.stored, ...again]
    .map((one) => hostEndpointOf(one, apiGroup))
    .filter((one) => originOf(one, labels) !== 'automatic');
  const kept = new Set(stay.map(({ node }) => node));
  const left = facts.hosts.filter((host) => !kept.has(host));
  return left.length === 0 ? [] : [`left without a host endpoint, as no old one is recorded: ${firstOf(left, 5)}`];
}

const THEN_STOPS = 'then it stops (NS-715): a variable of the controllers keeps automatic endpoints on';
const STAY_ON = 'a variable of the controllers keeps automatic endpoints on, and is not changed';

/** What keeps automatic endpoints from following the setting. Where all is as before, they are the user's own. */
export function obstaclesBack(facts: HepFacts, context: Context): HepJudged['obstacles'] {
  if (!gone(facts).some(isOurs) && !hasMore(facts, context)) return [];
  return overrideOf(facts, context, { needed: gone(facts).some(isOurs), off: true });
}

/** True if a variable alone may keep automatic endpoints: removing it removes them, so the old ones are created first. */
export function oldOnesFirst(facts: HepFacts, context: Context): boolean {
  if (missingSettings(facts.settings).length === 0 || obstaclesBack(facts, context).length === 0) return false;
  return recreate(facts, context).length > 0;
}

/** Besides old endpoints that are gone. */
function hasMore(facts: Pick<HepFacts, 'settings' | 'kept' | 'nodes'>, context: Context): boolean {
  return formerSwitch(facts, context) !== undefined || stillThere(facts, context).length > 0;
}

/** Labels are removed from nodes without it. In key-value mode it alone could say what is there already. */
export function undoNeedsCli(facts: Pick<HepFacts, 'installation' | 'cli' | 'kept' | 'stored' | 'settings'>, context: Context): boolean {
  if ('missing' in facts.cli && isKeyValue(facts.installation)) return facts.kept.length > 0;
  return gone(facts).some(isOurs) || formerSwitch(facts, context) !== undefined;
}

function recreate(facts: HepFacts, context: Context): readonly Action[] {
  const { cli } = facts;
  if ('missing' in cli) return [];
  return toRecreate(facts, context).map(({ endpoint, remover, kept }, index) => ({
    id: `recreate-${index + 1}`,
    title: `create the host endpoint ${endpoint.metadata.name} again${remover === 'untold' ? ' (who removed it was not recorded)' : ''}: ${endpointText(endpoint, context)}`,
    ref: '§4.7/3',
    undo: 'full',
    keep: { changes: [{ ref: kept.ref, before: {}, after: kept.before }], undo: true },
    effect: cliWrite(cli, ['create', '-f', '-'], JSON.stringify(servedObject(endpoint, context.profile.apiGroup))),
  }));
}

function resetSetting(facts: HepFacts, context: Context): readonly Action[] {
  const { cli, configuration } = facts;
  if (!formerSwitch(facts, context) || 'missing' in cli) return [];
  return [
    {
      id: 'disable',
      title: 'disable automatic host endpoints: the controllers delete theirs',
      ref: '§4.7/2',
      undo: 'full',
      afresh: true,
      keep: { changes: [switchTo('Disabled', configuration, context)], undo: true },
      effect: { ...switchCall(cli, 'Disabled', context), onlyIf: { ...wayBack(facts, context), standing: standingOnes(facts) } },
    },
  ];
}

/** Old endpoints that are there, or are created again. */
function standingOnes({ stored, kept }: HepFacts): readonly string[] {
  const there = new Set(stored.map(({ metadata }) => metadata.name));
  return [...keptEndpoints(kept)].flatMap(([name, one]) => (isOurs(one) || there.has(name) ? [name] : []));
}

const wayBack = (facts: HepFacts, context: Context): WayBackExpected => ({
  type: 'way-back',
  setting: settingOf(context),
  from: sourceOf(facts),
});

/** If the migration enabled automatic endpoints, they must be off; if they were on before, they had no such labels either. */
function offFirst(facts: HepFacts, labels: readonly AddedLabel[], context: Context): { readonly onlyIf?: WayBackExpected } {
  const canTell = isKeyValue(facts.installation) || (facts.kind !== undefined && facts.settingsKind !== undefined);
  if (!canTell || !labels.some(({ hasSwitched }) => hasSwitched)) return {};
  return { onlyIf: { ...wayBack(facts, context), off: true } };
}

function removeLabels(facts: HepFacts, context: Context): readonly Action[] {
  const mine = stillThere(facts, context);
  const onNodes = [...Map.groupBy(mine, ({ node }) => node)].map(([node, labels]) => ({
    ref: refOf(node),
    text: `${node.metadata.name} ${labels.map(({ key, place }) => `${key}=${place.after}`).join(', ')}`,
    labels: Object.fromEntries(labels.map(({ place: { place, after } }) => [place, after])),
  }));
  if (onNodes.length === 0) return [];
  return [
    {
      id: 'unlabel',
      title: `remove the copied labels from ${counted(onNodes.length, 'node')}: ${onNodes.map(({ text }) => text).join('; ')}`,
      ref: '§4.7/1',
      undo: 'full',
      afresh: true,
      keep: { changes: onNodes.map(({ ref, labels }) => ({ ref, before: labels, after: {} })), undo: true },
      effect: {
        type: 'patch-all',
        what: 'nodes',
        patches: onNodes.map(({ ref, labels }) => removal(ref, labels)),
        ...offFirst(facts, mine, context),
      },
    },
  ];
}

function removal({ uid = '', ...target }: ObjectRef, labels: Places): GuardedPatch {
  const patch = Object.entries(labels).flatMap(([path, value]) => [{ op: 'test', path, value } as const, { op: 'remove', path } as const]);
  return { target, uid, patch };
}
