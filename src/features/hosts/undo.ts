import type { Action, GuardedPatch } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { pointerTo } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import { apiVersionOf, type KubeObject } from '../../kernel/object.ts';
import type { StagePlan } from '../../kernel/stage.ts';
import { storedMetadata } from '../../kube/stored-metadata.ts';
import { automaticSettings, hostEndpointOf } from '../policy-rules/index.ts';
import { cliWrite } from '../service-cli/index.ts';
import { whyEndpointStaysAway, whyLabelStays } from './allowed.ts';
import { settingOf, sourceOf } from './endpoints.ts';
import { type HepFacts, missingSettings, overrideOf } from './facts.ts';
import type { HepJudged, RefusedBack } from './hep-facts.ts';
import { type AddedLabel, keptLabels, keptSetting } from './kept.ts';
import type { AddedLabels } from './labels.ts';
import { type KeptEndpoint, keptEndpoints } from './removed.ts';
import type { WayBackExpected } from './successor-stands.ts';
import type { KeptOfMigration } from './well-formed.ts';

/**
 * The undo: old endpoints, then the setting, then added labels, each only if it is still as the migration left it, checked right before.
 * Planned from what was kept before each change, so it can be repeated.
 */
export function undoPlan(facts: HepFacts, context: Context): StagePlan {
  if (facts.kept.length === 0) return { skip: 'no migration to automatic host endpoints was recorded on this cluster' };
  if ('missing' in facts.cli && undoNeedsCli(facts, context)) return { skip: `the service’s CLI cannot be used: ${facts.cli.missing}` };
  if (oldOnesFirst(facts, context)) {
    return { actions: recreate(facts, context), notes: [hasMore(facts, context) ? THEN_STOPS : STAY_ON], again: true };
  }
  const actions = [...recreate(facts, context), ...resetSetting(facts, context), ...removeLabels(facts, context)];
  return actions.length > 0 ? { actions } : { skip: 'everything that the migration changed is as it was before' };
}

const THEN_STOPS = 'then it stops (NS-715): a variable of the controllers keeps automatic endpoints on';
const STAY_ON = 'a variable of the controllers keeps automatic endpoints on, and is not changed';

/** What keeps automatic endpoints from following the setting. Where all is as before, they are the user's own. */
export function obstaclesBack(facts: HepFacts, context: Context): HepJudged['obstacles'] {
  if (!gone(facts).some(isOurs) && !hasMore(facts, context)) return [];
  return overrideOf(facts, context, gone(facts).some(isOurs));
}

/** True if a variable alone may keep automatic endpoints: removing it removes them, so the old ones are created first. */
export function oldOnesFirst(facts: HepFacts, context: Context): boolean {
  if (missingSettings(facts.settings).length === 0 || obstaclesBack(facts, context).length === 0) return false;
  return recreate(facts, context).length > 0;
}

/** Besides old endpoints that are gone. */
function hasMore(facts: Pick<HepFacts, 'settings' | 'kept' | 'nodes'>, context: Context): boolean {
  return formerSetting(facts, context) !== undefined || stillThere(facts, context).length > 0;
}

/** Labels are removed from nodes without it. In key-value mode it alone could say what is there already. */
export function undoNeedsCli(facts: Pick<HepFacts, 'installation' | 'cli' | 'kept' | 'stored' | 'settings'>, context: Context): boolean {
  if ('missing' in facts.cli && facts.installation.datastore === 'kvstore') return facts.kept.length > 0;
  return gone(facts).some(isOurs) || formerSetting(facts, context) !== undefined;
}

/** Old endpoints that were kept before their turn came, and are not there. */
export function gone({ stored, kept }: Pick<HepFacts, 'stored' | 'kept'>): readonly KeptEndpoint[] {
  const there = new Set(stored.map(({ metadata }) => metadata.name));
  return [...keptEndpoints(kept).values()].filter(({ endpoint }) => !there.has(endpoint.metadata.name));
}

/** What somebody else removed stays removed; if nobody knows who did, it is created, so nothing of the user's is lost. */
const isOurs = ({ remover }: KeptEndpoint): boolean => remover !== 'other';

/** Of what is gone, what the undo creates again. */
export function toRecreate(facts: Recreated, context: Context): readonly KeptEndpoint[] {
  const nodes = hostNames(facts);
  return gone(facts).filter((one) => isOurs(one) && whyEndpointStaysAway(one.endpoint, nodes, context) === undefined);
}

type Recreated = Pick<HepFacts, 'stored' | 'kept' | 'hosts'>;

const hostNames = ({ hosts }: Pick<HepFacts, 'hosts'>): ReadonlySet<string> => new Set(hosts);

/** What the record asks for and the undo does not do: not made by the migration, or somebody else's by now. */
export function refusedBack(facts: HepFacts, context: Context): readonly RefusedBack[] {
  const nodes = hostNames(facts);
  const endpoints = gone(facts)
    .filter(isOurs)
    .flatMap(({ endpoint }): readonly RefusedBack[] => {
      const because = whyEndpointStaysAway(endpoint, nodes, context);
      return because === undefined ? [] : [{ subject: `HostEndpoint/${endpoint.metadata.name}`, because }];
    });
  const byUid = new Map(facts.nodes.map((node) => [node.metadata.uid, node]));
  const labels = asGiven(facts).flatMap((label): readonly RefusedBack[] => {
    const node = byUid.get(label.uid);
    const because = node && whyLabelStays(label, node, context);
    return because === undefined ? [] : [{ subject: `Node/${node?.metadata.name} ${label.key}`, because }];
  });
  return [...endpoints, ...labels];
}

function recreate(facts: HepFacts, context: Context): readonly Action[] {
  const { cli } = facts;
  if ('missing' in cli) return [];
  const again = toRecreate(facts, context);
  return again.map(({ endpoint, remover }, index) => ({
    id: `recreate-${index + 1}`,
    title: `create the host endpoint ${endpoint.metadata.name} again${remover === 'untold' ? ' (who removed it was not recorded)' : ''}: ${endpointText(endpoint, context)}`,
    ref: '§4.7/3',
    undo: 'full',
    keep: { recreated: endpoint.metadata.name },
    effect: cliWrite(cli, ['create', '-f', '-'], JSON.stringify(servedEndpoint(endpoint, context))),
  }));
}

/** `node node-01, addresses 10.0.0.1, profiles none, labels role=host`: the user agrees to each, for the record could be another's work. */
export function endpointText(endpoint: KubeObject, { profile }: Context): string {
  const { node, expectedIPs, profiles, labels } = hostEndpointOf(endpoint, profile.apiGroup);
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  const list = (texts: readonly string[]) => texts.join(', ') || 'none';
  return `node ${node}, addresses ${list(expectedIPs)}, profiles ${list(profiles)}, labels ${list(pairs)}`;
}

/** As the v3 API takes it: with all its labels and annotations, without what the server sets. */
export function servedEndpoint(endpoint: KubeObject, { profile }: Context): KubeObject {
  const { labels, annotations } = storedMetadata(endpoint, profile.apiGroup);
  return {
    apiVersion: `${profile.apiGroup}/v3`,
    kind: 'HostEndpoint',
    metadata: { name: endpoint.metadata.name, labels, annotations },
    spec: endpoint.spec,
  };
}

/** The configuration as it was, if the migration switched automatic endpoints on and they still are. */
export function formerSetting(
  { settings, kept }: Pick<HepFacts, 'settings' | 'kept'>,
  { profile }: Context,
): KeptOfMigration['configuration'] {
  const before = keptSetting(kept);
  return settings.autoCreate && wasOff(before) && before?.name === profile.controllersConfiguration.name ? before : undefined;
}

const wasOff = (before: KeptOfMigration['configuration']): boolean => before !== undefined && !automaticSettings(before.spec).autoCreate;

function resetSetting(facts: HepFacts, context: Context): readonly Action[] {
  const { cli } = facts;
  const { profile } = context;
  const before = formerSetting(facts, context);
  if (!before || 'missing' in cli) return [];
  const patch = JSON.stringify({ spec: { controllers: { node: { hostEndpoint: { autoCreate: 'Disabled' } } } } });
  const words = ['patch', profile.controllersConfiguration.plural.replace(/s$/, ''), before.name, '--patch', patch];
  return [
    {
      id: 'disable',
      title: 'disable automatic host endpoints: the controllers delete theirs',
      ref: '§4.7/2',
      undo: 'full',
      afresh: true,
      keep: { switchedOff: true } satisfies KeptOfMigration,
      effect: { ...cliWrite(cli, words), onlyIf: { ...wayBack(facts, context), standing: standing(facts) } },
    },
  ];
}

/** Old endpoints that are there, or are created again. */
function standing(facts: HepFacts): readonly string[] {
  const away = new Set(
    gone(facts)
      .filter((one) => !isOurs(one))
      .map(({ endpoint }) => endpoint.metadata.name),
  );
  return [...keptEndpoints(facts.kept).keys()].filter((name) => !away.has(name));
}

const wayBack = (facts: HepFacts, context: Context): WayBackExpected => ({
  type: 'way-back',
  setting: settingOf(context),
  from: sourceOf(facts),
});

/** If the migration enabled automatic endpoints, they must be off; if they were on before, they had no such labels either. */
function offFirst(facts: HepFacts, labels: readonly AddedLabel[], context: Context): { readonly onlyIf?: WayBackExpected } {
  const canTell = facts.installation.datastore === 'kvstore' || (facts.kind !== undefined && facts.settingsKind !== undefined);
  if (!canTell || !labels.some(({ before }) => wasOff(before))) return {};
  return { onlyIf: { ...wayBack(facts, context), off: true } };
}

/** Labels that the migration put on nodes and that are there as it did: the server still says that they are from this program. */
export function stillThere(facts: Pick<HepFacts, 'nodes' | 'kept'>, context: Context): readonly AddedLabel[] {
  const byUid = new Map(facts.nodes.map((node) => [node.metadata.uid, node]));
  return asGiven(facts).filter((label) => {
    const node = byUid.get(label.uid);
    return node !== undefined && whyLabelStays(label, node, context) === undefined;
  });
}

/** Labels of the record that are on their node with that value. */
function asGiven({ nodes, kept }: Pick<HepFacts, 'nodes' | 'kept'>): readonly AddedLabel[] {
  const labels = new Map(nodes.map(({ metadata }) => [metadata.uid, metadata.labels]));
  return keptLabels(kept).filter(({ uid, key, value }) => labels.get(uid)?.[key] === value);
}

function removeLabels(facts: HepFacts, context: Context): readonly Action[] {
  const mine = stillThere(facts, context);
  const names = new Map(facts.nodes.map(({ metadata }) => [metadata.uid, metadata.name]));
  const onNodes = [...Map.groupBy(mine, ({ uid }) => uid)].map(([uid, labels]): AddedLabels => {
    return { node: names.get(uid) ?? '', uid, labels: Object.fromEntries(labels.map(({ key, value }) => [key, value])) };
  });
  if (onNodes.length === 0) return [];
  return [
    {
      id: 'unlabel',
      title: `remove the copied labels from ${counted(onNodes.length, 'node')}: ${onNodes.map(nodeLabelsText).join('; ')}`,
      ref: '§4.7/1',
      undo: 'full',
      afresh: true,
      keep: { unlabelled: onNodes } satisfies KeptOfMigration,
      effect: { type: 'patch-all', what: 'nodes', patches: onNodes.map(removal), ...offFirst(facts, mine, context) },
    },
  ];
}

const nodeLabelsText = ({ node, labels }: AddedLabels): string =>
  `${node} ${Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ')}`;

function removal({ node, uid, labels }: AddedLabels): GuardedPatch {
  const patch = Object.entries(labels).flatMap(([key, value]) => {
    const path = pointerTo('metadata', 'labels', key);
    return [{ op: 'test', path, value } as const, { op: 'remove', path } as const];
  });
  return { target: { apiVersion: apiVersionOf(K.Node), kind: 'Node', name: node }, uid, patch };
}
