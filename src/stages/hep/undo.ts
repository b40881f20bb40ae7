import type { HepJudged } from '../../checks/hep-facts.ts';
import type { Action, GuardedPatch, WayBackExpected } from '../../core/action.ts';
import type { Context } from '../../core/context.ts';
import { K } from '../../core/kinds.ts';
import { apiVersionOf, type KubeObject } from '../../core/object.ts';
import type { StagePlan } from '../../core/stage.ts';
import { storedMetadata } from '../../core/stored-metadata.ts';
import { escapePointer } from '../../merge/json-patch.ts';
import { automaticSettings } from '../../policy/automatic-endpoint.ts';
import { settingOf, sourceOf } from './endpoints.ts';
import type { HepFacts } from './facts.ts';
import type { KeptOfMigration } from './kept.ts';
import { missingSettings, overrideOf } from './override.ts';
import { type KeptEndpoint, keptEndpoints } from './removed.ts';

/**
 * The way back: old endpoints first, then the setting, then the labels that were added; each only where it still is as the migration
 * left it, and looked at once more right before. Planned from what was kept before each change, so that it can be repeated.
 */
export function undoPlan(facts: HepFacts, context: Context): StagePlan {
  const kept = contentsOf(facts);
  if (kept.length === 0) return { skip: 'no migration to automatic host endpoints was recorded on this cluster' };
  if ('missing' in facts.cli && undoNeedsCli(facts)) return { skip: `the service’s CLI cannot be used: ${facts.cli.missing}` };
  if (oldOnesFirst(facts, context)) return { actions: recreate(facts, context), notes: [THEN_STOPS], again: true };
  const actions = [...recreate(facts, context), ...resetSetting(facts, kept, context), ...removeLabels(facts, kept, context)];
  return actions.length > 0 ? { actions } : { skip: 'everything that the migration changed is as it was before' };
}

const THEN_STOPS = 'then it stops (NS-715): a variable of the controllers keeps automatic endpoints on';

/** What keeps automatic endpoints from going with the setting. */
export function obstaclesBack(facts: HepFacts, context: Context): HepJudged['obstacles'] {
  return overrideOf(facts, context, gone(facts).some(isOurs));
}

/**
 * True if automatic endpoints stand by a variable alone, or may: whoever takes it out, as the finding says, is rid of them, so the old ones
 * are created again before it is said.
 */
export function oldOnesFirst(facts: HepFacts, context: Context): boolean {
  if (missingSettings(facts.settings).length === 0 || obstaclesBack(facts, context).length === 0) return false;
  return recreate(facts, context).length > 0;
}

/** Labels are taken off nodes without it. In key-value mode it alone could say what is there already. */
export function undoNeedsCli(facts: Pick<HepFacts, 'installation' | 'cli' | 'kept' | 'stored' | 'settings'>): boolean {
  const kept = contentsOf(facts);
  if ('missing' in facts.cli && facts.installation.datastore === 'kvstore') return kept.length > 0;
  return gone(facts).some(isOurs) || formerSetting(facts, kept) !== undefined;
}

function contentsOf({ kept }: Pick<HepFacts, 'kept'>): readonly KeptOfMigration[] {
  return kept.map(({ content }) => content as KeptOfMigration);
}

/** Old endpoints that were kept before their turn came, and are not there. */
export function gone({ stored, kept }: Pick<HepFacts, 'stored' | 'kept'>): readonly KeptEndpoint[] {
  const there = new Set(stored.map(({ metadata }) => metadata.name));
  return [...keptEndpoints(kept).values()].filter(({ endpoint }) => !there.has(endpoint.metadata.name));
}

/** What somebody else removed stays away; where nobody can tell, nothing of a person's may be lost. */
const isOurs = ({ remover }: KeptEndpoint): boolean => remover !== 'other';

function recreate(facts: HepFacts, context: Context): readonly Action[] {
  const { cli } = facts;
  if ('missing' in cli) return [];
  const again = gone(facts).filter(isOurs);
  return again.map(({ endpoint, remover }, index) => ({
    id: `recreate-${index + 1}`,
    title: `create the host endpoint ${endpoint.metadata.name} again${remover === 'untold' ? ' (who removed it was not recorded)' : ''}`,
    ref: '§4.7/3',
    undo: 'full',
    keep: { recreated: endpoint.metadata.name },
    effect: {
      type: 'exec',
      program: cli.program,
      run: { tool: 'netsvcctl', args: ['create', '-f', '-', ...cli.args], stdin: JSON.stringify(servedEndpoint(endpoint, context)) },
    },
  }));
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
function formerSetting({ settings }: Pick<HepFacts, 'settings'>, kept: readonly KeptOfMigration[]): KeptOfMigration['configuration'] {
  const before = kept.find(({ configuration }) => configuration)?.configuration;
  return before && settings.autoCreate && !automaticSettings(before.spec).autoCreate ? before : undefined;
}

function resetSetting(facts: HepFacts, kept: readonly KeptOfMigration[], context: Context): readonly Action[] {
  const { settings, cli } = facts;
  const { profile } = context;
  const before = formerSetting({ settings }, kept);
  if (!before || 'missing' in cli) return [];
  const patch = JSON.stringify({ spec: { controllers: { node: { hostEndpoint: { autoCreate: 'Disabled' } } } } });
  const args = ['patch', profile.controllersConfiguration.plural.replace(/s$/, ''), before.name, '--patch', patch, ...cli.args];
  return [
    {
      id: 'disable',
      title: 'disable automatic host endpoints: the controllers delete theirs',
      ref: '§4.7/2',
      undo: 'full',
      afresh: true,
      effect: {
        type: 'exec',
        program: cli.program,
        run: { tool: 'netsvcctl', args },
        onlyIf: { ...wayBack(facts, context), standing: standing(facts) },
      },
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

/** Where the migration switched automatic endpoints on, they must be off; where they were on before, they were without these labels then, too. */
function offFirst(facts: HepFacts, kept: readonly KeptOfMigration[], context: Context): { readonly onlyIf?: WayBackExpected } {
  const before = kept.find(({ configuration }) => configuration)?.configuration;
  const canTell = facts.installation.datastore === 'kvstore' || (facts.kind !== undefined && facts.settingsKind !== undefined);
  if (!before || automaticSettings(before.spec).autoCreate || !canTell) return {};
  return { onlyIf: { ...wayBack(facts, context), off: true } };
}

function removeLabels(facts: HepFacts, kept: readonly KeptOfMigration[], context: Context): readonly Action[] {
  const { nodes } = facts;
  const byUid = new Map(nodes.map((node) => [node.metadata.uid, node]));
  const patches = kept
    .flatMap(({ labels = [] }) => labels)
    .flatMap(({ uid, labels }): readonly GuardedPatch[] => {
      const node = byUid.get(uid);
      const mine = Object.entries(labels).filter(([key, value]) => node?.metadata.labels?.[key] === value);
      if (!node || mine.length === 0) return [];
      const patch = mine.flatMap(([key, value]) => {
        const path = `/metadata/labels/${escapePointer(key)}`;
        return [{ op: 'test', path, value } as const, { op: 'remove', path } as const];
      });
      return [{ target: { apiVersion: apiVersionOf(K.Node), kind: 'Node', name: node.metadata.name }, uid, patch }];
    });
  if (patches.length === 0) return [];
  return [
    {
      id: 'unlabel',
      title: `take the copied labels off ${patches.length} ${patches.length === 1 ? 'node' : 'nodes'}`,
      ref: '§4.7/1',
      undo: 'full',
      afresh: true,
      effect: { type: 'patch-all', what: 'nodes', patches, ...offFirst(facts, kept, context) },
    },
  ];
}
