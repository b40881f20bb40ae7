import type { Action, Exec } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { changeTo } from '../../kernel/object-change.ts';
import type { NodeVerdict } from '../policy-rules/index.ts';
import { type CliCall, cliWrite } from '../service-cli/index.ts';
import type { HepFacts } from './facts.ts';
import { hasRemoved, SWITCH_FIELD } from './kept.ts';
import type { EndpointSetting, EndpointSource, SuccessorExpected } from './successor-stands.ts';

/** The controllers have taken the setting once every node's endpoint stands: their status says so too early (host endpoint notes 1.2). */
export function awaitEndpoints(facts: HepFacts, verdicts: readonly NodeVerdict[], context: Context): readonly Action[] {
  const covered = verdicts.filter(({ uncovered }) => uncovered === undefined);
  if (covered.length === 0) return [];
  const { apiGroup, labels: signs } = context.profile;
  // Five minutes for a restart with back-off, and the old controllers' 2.5 endpoints a second (host endpoint notes 1.2).
  const { timeoutMs = 300_000 + covered.length * 400 } = context.options;
  const from = facts.kind ? { kind: facts.kind } : { cli: cliOf(facts) };
  const nodes = covered.map(({ node, nodeLabels }) => ({ node, labels: nodeLabels }));
  return [
    {
      id: 'endpoints',
      title: `wait for the automatic endpoint of ${counted(covered.length, 'node')}, with the copied labels`,
      ref: '§4.7/2',
      undo: 'full',
      effect: { type: 'wait', until: { type: 'host-endpoints', apiGroup, signs, from, nodes }, timeoutMs },
    },
  ];
}

const cliOf = ({ cli }: Pick<HepFacts, 'cli'>): CliCall => ('missing' in cli ? { program: '', args: [] } : cli);

/** Policies and agents are evaluated again this often (milliseconds) during deletions, as one look at the fleet takes seconds. */
const JUDGED_WITHIN_MS = 10_000;

/** One node's old endpoints at a time, the first node alone: what is wrong shows there (§4.7/3). */
export function deleteOld(facts: HepFacts, verdicts: readonly NodeVerdict[], context: Context): readonly Action[] {
  const { cli, stored, kept } = facts;
  if ('missing' in cli) return [];
  const byName = new Map(stored.map((one) => [one.metadata.name, one]));
  const isFirst = !hasRemoved(kept);
  return verdicts
    .filter(({ old, uncovered }) => old.length > 0 && uncovered === undefined)
    .map((verdict, index) => {
      const names = verdict.old.map(({ name }) => name);
      const live = names.flatMap((name) => byName.get(name) ?? []);
      return {
        id: `delete-${index + 1}`,
        title: `delete the old ${names.length === 1 ? 'host endpoint' : 'host endpoints'} ${names.join(', ')} of ${verdict.node}`,
        ref: '§4.7/3',
        undo: 'full',
        afresh: index === 0 || (index === 1 && isFirst),
        judgedWithinMs: JUDGED_WITHIN_MS,
        keep: { changes: live.map((one) => changeTo(one, { '': undefined })), since: context.startedAt.toISOString() },
        effect: { ...cliWrite(cli, ['delete', 'hostendpoint', ...names]), onlyIf: successorOf(facts, verdict, live, context) },
      };
    });
}

/** The procedure's patch: a merge, other settings stay (§4.7/2). */
export function switchCall(cli: CliCall, autoCreate: 'Enabled' | 'Disabled', { profile }: Context): Exec {
  const { name, plural } = profile.controllersConfiguration;
  const patch = JSON.stringify({ spec: { controllers: { node: { hostEndpoint: { autoCreate } } } } });
  return cliWrite(cli, ['patch', plural.replace(/s$/, ''), name, '--patch', patch]);
}

/** Where endpoints and the setting are looked at right before a change. */
export function sourceOf({ kind, settingsKind: settings, cli }: Pick<HepFacts, 'kind' | 'settingsKind' | 'cli'>): EndpointSource {
  return kind && settings ? { kind, settings } : { cli: cliOf({ cli }) };
}

export function settingOf({ profile }: Context): EndpointSetting {
  return {
    ...profile.controllersConfiguration,
    field: SWITCH_FIELD,
    ...(profile.automaticEndpointsEnv === undefined ? {} : { overriddenBy: profile.automaticEndpointsEnv }),
  };
}

/** What must hold when the old endpoints of a node are deleted. */
function successorOf(facts: HepFacts, verdict: NodeVerdict, old: readonly KubeObject[], context: Context): SuccessorExpected {
  return {
    type: 'successor',
    signs: context.profile.labels,
    apiGroup: context.profile.apiGroup,
    setting: settingOf(context),
    from: sourceOf(facts),
    judgedBy: facts.judgedBy,
    node: { node: verdict.node, labels: verdict.endpointLabels },
    old: old.map(({ metadata: { name, uid, resourceVersion } }) => ({ name, uid, resourceVersion })),
  };
}
