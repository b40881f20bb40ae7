import { type Command, command } from '../../kernel/argv.ts';
import { type Check, type Evidence, notApplicable, type Reading, read, type Verdict } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { ageText, counted } from '../../kernel/counted.ts';
import { type Installation, isOperated } from '../../kernel/installation.ts';
import { jsonAt, mapAt } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { ComponentStatusName, OperatorEnd } from '../../kernel/operator-names.ts';
import type { Sources } from '../../kernel/ports.ts';
import { type RunRecord, resumedBackwards } from '../../kernel/run-record.ts';
import { conditionOf, conditionsOf } from '../../kube/pod-facts.ts';
import {
  attempt,
  evidenceOf,
  failIfAny,
  listed,
  listServed,
  type PreflightCheck,
  replacesApi,
  type SourceJudged,
  withInstallation,
} from '../survey/index.ts';

/** What the operator says of its components. */
export interface StatusFacts {
  readonly statuses: Reading<readonly KubeObject[]>;
  /** Resources that switch components on. */
  readonly components: Reading<readonly Pick<KubeObject, 'kind'>[]>;
  /** Of the Installation; undefined where it is not known. */
  readonly generation: number | undefined;
  /** The time of the reading, in milliseconds. */
  readonly now: number;
  /** That the operator does not run; absent where nobody has looked. */
  readonly silent?: readonly Trouble[];
}

/** A rollout of many nodes may take an hour; one that takes longer does not end by itself. */
const LONG_MS = 3_600_000;

/** An operator that is stuck rolls nothing out: the upgrade changes it and its roles, and no agent. */
const row = {
  id: 'NS-429',
  title: 'component statuses of the operator good',
  category: 'workloads',
  severity: 'error',
  ref: 'domain §12/41',
} as const;

export const statusesGood: PreflightCheck = {
  ...row,
  judge: withInstallation((installation, { operated, record, now, deployments }, context) => {
    if (!isOperated(installation) || !operated) return notApplicable('no operator runs the service here');
    const generation = generationOf(read(operated.installation));
    const silent = silentOperator(installation, read(deployments));
    return statusVerdict({ ...operated, generation, now, silent }, () => read(record), context);
  }),
};

/** What an operator that does not run has said of its components may be long ago. */
function silentOperator({ operator }: Installation, deployments: readonly KubeObject[]): readonly Trouble[] {
  const own = deployments.find(({ metadata }) => metadata.name === operator?.name && metadata.namespace === operator.namespace);
  if (!own) return [];
  const { readyReplicas = 0, unavailableReplicas = 0 } = mapAt(own.status);
  const isStopped = jsonAt(own.spec, 'replicas') === 0;
  if (!isStopped && (Number(readyReplicas) > 0 || Number(unavailableReplicas) === 0)) return [];
  const state = isStopped ? 'is scaled to 0' : 'has no ready pod';
  return [{ ...evidenceOf(own), detail: `${state}: its statuses are as it left them, and nobody answers for the Installation` }];
}

/** Right before `crds` or `apply` writes, where no preflight has looked in the same command. */
export const statusesGoodNow: Check<SourceJudged & { readonly health: StatusFacts | undefined }> = {
  ...row,
  judge: ({ health, record }, context) =>
    health
      ? statusVerdict(health, () => record, context)
      : notApplicable('nothing is written here, or the preflight of this command looks at them'),
};

/** A deletion counts as a change of it: NS-114 tells that, and no operator has to answer. */
function generationOf(installation: KubeObject | undefined): number | undefined {
  return installation?.metadata.deletionTimestamp === undefined ? installation?.metadata.generation : undefined;
}

/** Undefined within a chain: its preflight has the same check. */
export async function readHealth(
  { cluster, clock }: Pick<Sources, 'cluster' | 'clock'>,
  { profile, chain }: Context,
  { input }: Installation,
): Promise<StatusFacts | undefined> {
  const { end } = profile.operator;
  if (!end || (chain && chain.later.length > 0)) return undefined;
  const all = (kind: string) => listServed(cluster, `${profile.operatorGroup}/v1`, kind);
  const statuses = await attempt(() => all(end.statusKind));
  const needed =
    'value' in statuses ? end.statuses.filter(({ name }) => statuses.value.some(({ metadata }) => metadata.name === name)) : [];
  const kinds = [...new Set(needed.flatMap(({ needs }) => needs?.kind ?? []))];
  const components = await attempt(async () =>
    (await Promise.all(kinds.map(all))).flatMap((some, index) => some.map(() => ({ kind: kinds[index] ?? '' }))),
  );
  return { statuses, components, generation: generationOf(input?.resource), now: clock.now().getTime() };
}

function statusVerdict(facts: StatusFacts, record: () => RunRecord | undefined, context: Context): Verdict {
  const { profile } = context;
  const { end } = profile.operator;
  if (!end) return notApplicable('the profile knows no component statuses');
  const statuses = read(facts.statuses);
  const next = command`kubectl get ${`${end.statusPlural}.${profile.operatorGroup}`} -o yaml`;
  if (statuses.length === 0) return noStatus(end, next);
  const bad = [...(facts.silent ?? []), ...statuses.flatMap((status) => troublesOf(status, facts, end))];
  // The rollout that this run has begun makes components unready; its wait looks at them, with a limit of time.
  if (bad.length > 0 && replacesApi(record(), context)) return inOwnRollout(bad, next);
  if (bad.length > 0 && resumedBackwards(record(), context)) return inOwnRollback(bad, next);
  const isLate = bad.every(({ isWarning }) => isWarning);
  return failIfAny(bad, `${counted(statuses.length, 'component status', 'component statuses')} good`, () => ({
    because: `the operator is not well before the upgrade: ${listed(bad.map(({ text, detail }) => `${text} ${detail}`))}`,
    hint: 'Fix what its message says first. An operator that is stuck rolls nothing out: the upgrade would change the operator and no agent, and its wait would end by the time limit.',
    next,
    ...(isLate ? { severity: 'warning' as const } : { byName: true, eachByName: true }),
  }));
}

/** A rollback stops the operator; whoever goes forward again starts it with the upgrade. */
function inOwnRollback(evidence: readonly Trouble[], next: Command): Verdict {
  return {
    status: 'failed',
    severity: 'warning',
    because: `the rollback that is unfinished left it so: ${listed(evidence.map(({ text, detail }) => `${text} ${detail}`))}`,
    hint: 'Nothing to do before the run continues: it starts the new operator again, and waits for these components.',
    evidence,
    next,
  };
}

function inOwnRollout(evidence: readonly Trouble[], next: Command): Verdict {
  return {
    status: 'failed',
    severity: 'warning',
    because: `the rollout that this run began is not finished: ${listed(evidence.map(({ text, detail }) => `${text} ${detail}`))}`,
    hint: 'Nothing to do before the run continues: it waits for these components, and names the one that does not get ready.',
    evidence,
    next,
  };
}

function noStatus({ statusKind }: OperatorEnd, next: Command): Verdict {
  return {
    status: 'failed',
    because: `there is no ${statusKind}: the operator has never said how its components are`,
    hint: 'Look whether the operator runs, and at its log, before the upgrade.',
    next,
  };
}

type Trouble = Evidence & { readonly detail: string; readonly isWarning?: true };

/** What is not as it should be; `needs` of a status that is not there explains it (NS-627). */
function troublesOf(status: KubeObject, { components, generation, now }: StatusFacts, { statuses }: OperatorEnd): readonly Trouble[] {
  const name = statuses.find((one) => one.name === status.metadata.name);
  if (name?.needs && !read(components).some(({ kind }) => kind === name.needs?.kind)) return [];
  const say = (detail: string, more: Pick<Trouble, 'isWarning'> = {}): readonly Trouble[] => [{ ...evidenceOf(status), detail, ...more }];
  const found = (type: string) => conditionOf(status, type);
  if (conditionsOf(status).length === 0) return say('has no conditions: the operator has not said how it is');
  const degraded = found('Degraded');
  if (degraded?.status === 'True') return say(`is Degraded${since(degraded, now)}: ${wordsOf(degraded)}`);
  const available = found('Available');
  if (available?.status !== 'True')
    return say(`is not Available${since(available, now)}: ${available ? wordsOf(available) : 'it has no such condition'}`);
  const behind = generationBehind(status, name, generation);
  if (behind !== undefined) return say(behind);
  const progressing = found('Progressing');
  const isLong = progressing?.status === 'True' && now - Date.parse(progressing.lastTransitionTime ?? '') > LONG_MS;
  return isLong ? say(`is Progressing${since(progressing, now)}: ${wordsOf(progressing)}`, { isWarning: true }) : [];
}

type Told = { readonly reason?: string; readonly message?: string; readonly lastTransitionTime?: string };

function since(condition: Told | undefined, now: number): string {
  const at = Date.parse(condition?.lastTransitionTime ?? '');
  return Number.isNaN(at) ? '' : ` since ${condition?.lastTransitionTime} (${ageText(now - at)})`;
}

function wordsOf({ reason = '', message = '' }: Told): string {
  return [reason, message].filter((text) => text !== '').join(': ') || 'it does not say why';
}

/** A status that is about an older Installation says nothing of the present one: nobody has answered its last change. */
function generationBehind(status: KubeObject, name: ComponentStatusName | undefined, wanted: number | undefined): string | undefined {
  const generation = name?.generation === 'installation' ? wanted : undefined;
  const seen = conditionsOf(status).flatMap(({ observedGeneration }) => observedGeneration ?? []);
  if (generation === undefined || seen.length === 0 || Math.max(...seen) >= generation) return undefined;
  return `is about generation ${Math.max(...seen)} of the Installation, which is at ${generation}: the operator has not answered its last change`;
}
