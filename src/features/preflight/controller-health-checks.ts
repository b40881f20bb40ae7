import { command } from '../../kernel/argv.ts';
import { type Evidence, notApplicable, read, type Verdict } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { ageText, counted } from '../../kernel/counted.ts';
import type { Installation, Unfinished } from '../../kernel/installation.ts';
import { jsonAt } from '../../kernel/json.ts';
import { type KubeObject, refOf } from '../../kernel/object.ts';
import type { ComponentStatusName, OperatorEnd } from '../../kernel/operator-names.ts';
import type { ProcedureNames, Profile } from '../../kernel/profile.ts';
import { isOlder } from '../../kernel/release.ts';
import { conditionOf, conditionsOf } from '../../kube/pod-facts.ts';
import { agentSetting, findWorkload, serviceWorkloads } from '../rollout/index.ts';
import {
  allContainersOf,
  beingDeleted,
  deletionOf,
  evidenceOf,
  failIfAny,
  judgeDeletions,
  judgeUnfinished,
  listed,
  lockOf,
  type OperatedFacts,
  objectsOf,
  type PreflightCheck,
  type PreflightFacts,
  procedures,
  refusedByTarget,
  replacesApi,
  serviceNamespaces,
  specOf,
  table,
  withInstallation,
} from '../survey/index.ts';
import { withOperated } from './crossings-checks.ts';

/** What is deleted with its namespace, and what the operator or the agents go by. */
const nothingDeleted: PreflightCheck = {
  ...beingDeleted.atPreflight,
  judge: withInstallation((installation, facts, context) => {
    // What every stage sees needs nothing else: no account that may read less can pass it.
    const known = installation.deletions;
    return judgeDeletions(known.length > 0 ? known : deletionsAround(facts, context));
  }),
};

function deletionsAround({ operated, ...facts }: PreflightFacts, { profile }: Context): readonly Unfinished[] {
  const { operator, operatorGroup, crdGroup, procedures: names } = profile;
  // The target's operator deletes the old namespace of the API server by itself.
  const ours = serviceNamespaces(profile).filter((name) => name !== operator.end?.api.oldNamespace);
  const stored = (names?.needed ?? []).flatMap((plural) =>
    objectsOf({ ...facts, operated }, plural).flatMap((one) => deletionOf(one, HELD, `${plural}.${crdGroup}`)),
  );
  const ofOperator = operated ? [...read(operated.components), ...read(operated.imageSets), ...read(operated.gateways)] : [];
  return [
    ...read(facts.namespaces)
      .filter(({ metadata }) => ours.includes(metadata.name) && metadata.name !== 'kube-system')
      .flatMap((one) => deletionOf({ ...one, apiVersion: 'v1', kind: 'Namespace' }, WITH_ALL)),
    ...stored,
    ...ofOperator.flatMap((one) => deletionOf(one, HELD, `${one.kind.toLowerCase()}.${operatorGroup}`)),
  ];
}

const HELD =
  'Find out who deleted it and what holds its finalizers. Keep a copy of it, let the deletion end, and create it again if you need it.';
const WITH_ALL =
  'All that is in the namespace is deleted with it. Save what you need, let the deletion end, and have its workloads created again.';

/** What only the preflight reads of them: a store behind the CLI, and the settings of the data plane. */
const noneUnfinished: PreflightCheck = {
  ...procedures.atPreflight,
  judge: withInstallation((installation, facts, context) => {
    const names = context.profile.procedures;
    const more = names ? [...lockedBehindCli(installation, facts, names, context), ...halfEbpf(installation, facts, names, context)] : [];
    const found = [...installation.unfinished, ...more];
    const unasked = found.length === 0 ? notAsked(installation, facts, context) : [];
    // Not every upgrade of a key-value installation needs the CLI: without it the lock is yours to look at.
    return unasked.length === 0 ? judgeUnfinished(found) : { ...judgeUnfinished(unasked), severity: 'warning' };
  }),
};

function lockedBehindCli({ datastore }: Installation, { inStore }: PreflightFacts, names: ProcedureNames, { profile }: Context) {
  if (datastore !== 'kvstore' || 'unread' in inStore) return [];
  const { clusterInformation } = profile;
  return (inStore.value?.clusterInformation ?? [])
    .filter(({ metadata }) => metadata.name === clusterInformation.name)
    .flatMap((one) => lockOf({ ...one, kind: clusterInformation.kind }, names, profile))
    .map((one) => ({ ...one, next: shownByCli(profile) }));
}

function notAsked({ datastore }: Installation, { inStore }: PreflightFacts, { profile }: Context): readonly Unfinished[] {
  if (datastore !== 'kvstore' || !('unread' in inStore)) return [];
  const { crdGroup, clusterInformation, procedures: names } = profile;
  const { kind, name } = clusterInformation;
  const ref = { apiVersion: `${crdGroup}/v1`, kind, name };
  const detail = `whether the datastore is locked could not be read: ${inStore.unread}`;
  const hint = `Look yourself. If ${names?.lock.field} is false, find out who locked it, and unlock it before the upgrade.`;
  return [{ ref, detail, hint, next: shownByCli(profile) }];
}

function shownByCli({ cli, clusterInformation: { plural, name } }: Profile) {
  return command`${cli.program} get ${plural} ${name} -o yaml`;
}

/** The operator turns the data plane by itself, unless somebody else has: then it changes nothing, and stays degraded. */
function halfEbpf(installation: Installation, facts: PreflightFacts, { ebpf }: ProcedureNames, context: Context): readonly Unfinished[] {
  const { profile, goal } = context;
  const crossings = profile.operator.crossings;
  if (!installation.input || !crossings || isOlder(goal.release, ebpf.since)) return [];
  const isWanted = jsonAt(specOf(installation.input.resource), ...crossings.dataPlane.field) === ebpf.dataPlane;
  const [configuration] = objectsOf(facts, 'felixconfigurations').filter(({ metadata }) => metadata.name === 'default');
  if (!configuration) return [];
  const own = configuration.metadata.annotations?.[ebpf.annotation];
  const value = specOf(configuration).bpfEnabled;
  const isOthers = value !== undefined && String(value) !== own;
  const isOn = String(agentSetting(facts, installation, profile, 'bpfEnabled')).toLowerCase() === 'true';
  if (isWanted === isOn) return [];
  const said = `the Installation ${isWanted ? 'asks for' : 'does not ask for'} eBPF, and bpfEnabled of the agents is ${String(value ?? 'not set')}`;
  const refuses = isOthers
    ? `. The operator refuses it: “unable to set bpfEnabled: FelixConfiguration "default" has been modified by someone else”`
    : '';
  return [
    {
      ref: refOf(configuration),
      detail: `half-done change of the data plane: ${said}${refuses}`,
      hint: `Finish the change or take it back before the upgrade: set spec.${crossings.dataPlane.field.join('.')} of the Installation to what the agents shall run, and bpfEnabled with annotation ${ebpf.annotation} alike.`,
      next: command`kubectl get felixconfigurations.${profile.crdGroup} default -o yaml`,
    },
  ];
}

/** A rollout of many nodes may take an hour; one that takes longer does not end by itself. */
const LONG_MS = 3_600_000;

export const controllerHealthChecks: readonly PreflightCheck[] = [
  nothingDeleted,
  noneUnfinished,
  refusedByTarget.atPreflight,
  ...table({ category: 'workloads' as const, severity: 'error' as const, ref: 'domain §12/41' }, [
    /** An operator that is stuck rolls nothing out: the upgrade changes it and its roles, and no agent. */
    {
      id: 'NS-429',
      title: 'component statuses of the operator good',
      judge: withOperated(({ operated, facts, context }) => {
        const { profile } = context;
        const { end } = profile.operator;
        if (!end) return notApplicable('the profile knows no component statuses');
        const statuses = read(operated.statuses);
        const next = command`kubectl get ${`${end.statusPlural}.${profile.operatorGroup}`} -o yaml`;
        if (statuses.length === 0) return noStatus(end, next);
        const bad = statuses.flatMap((status) => troublesOf(status, operated, end, facts.now));
        // The rollout that this run has begun makes components unready; its wait evaluates them, with a limit of time.
        if (bad.length > 0 && replacesApi(read(facts.record), context)) return inOwnRollout(bad, next);
        const isLate = bad.every(({ isWarning }) => isWarning);
        return failIfAny(bad, `${counted(statuses.length, 'component status', 'component statuses')} good`, () => ({
          because: `the operator is not well before the upgrade: ${listed(bad.map(({ text, detail }) => `${text} ${detail}`))}`,
          hint: 'Fix what its message says first. An operator that is stuck rolls nothing out: the upgrade would change the operator and no agent, and its wait would end by the time limit.',
          next,
          ...(isLate ? { severity: 'warning' as const } : { byName: true, eachByName: true }),
        }));
      }),
    },
    /** The agents' init container writes the list of plugins again, without those that others have put into it (istio#57432). */
    {
      id: 'NS-430',
      title: 'no other CNI plugin chained',
      severity: 'warning',
      ref: 'domain §12/42',
      judge: withInstallation((installation, facts, { profile }) => {
        const { chainedPlugins = [], cniInstaller } = profile;
        const agents = serviceWorkloads(installation, profile)?.agent;
        const live = agents && findWorkload(read(facts.daemonSets), agents);
        if (!live || !allContainersOf(live).some(({ name }) => name === cniInstaller))
          return notApplicable('the agents write no CNI configuration');
        const found = chainedPlugins.flatMap((plugin) =>
          read(facts.daemonSets)
            .filter(({ metadata }) => metadata.name.includes(plugin.daemonSet))
            .map((one) => ({ plugin, evidence: evidenceOf(one, `${plugin.title}: ${plugin.happens}`) })),
        );
        const [first] = found;
        const evidence = found.map((one) => one.evidence);
        return failIfAny(evidence, 'no other CNI plugin is chained to that of the service', (names) => ({
          because: `each agent that starts writes the CNI configuration of its node again, without the plugins that others have added: ${names}`,
          hint: [...new Set(found.map(({ plugin }) => plugin.advice))].join('\n'),
          next: command`kubectl -n ${first?.evidence.object?.namespace ?? ''} get daemonset ${first?.evidence.object?.name ?? ''} -o wide`,
        }));
      }),
    },
  ]),
];

function inOwnRollout(evidence: readonly Trouble[], next: ReturnType<typeof command>): Verdict {
  return {
    status: 'failed',
    severity: 'warning',
    because: `the rollout that this run began is not finished: ${listed(evidence.map(({ text, detail }) => `${text} ${detail}`))}`,
    hint: 'Nothing to do before the run continues: it waits for these components, and names the one that does not get ready.',
    evidence,
    next,
  };
}

function noStatus({ statusKind }: OperatorEnd, next: ReturnType<typeof command>): Verdict {
  return {
    status: 'failed',
    because: `there is no ${statusKind}: the operator has never said how its components are`,
    hint: 'Look whether the operator runs, and at its log, before the upgrade.',
    next,
  };
}

type Trouble = Evidence & { readonly detail: string; readonly isWarning?: true };

/** What is not as it should be; `needs` of a status that is not there explains it (NS-627). */
function troublesOf(status: KubeObject, operated: OperatedFacts, { statuses }: OperatorEnd, now: number): readonly Trouble[] {
  const name = statuses.find((one) => one.name === status.metadata.name);
  if (name?.needs && !read(operated.components).some(({ kind }) => kind === name.needs?.kind)) return [];
  const say = (detail: string, more: Pick<Trouble, 'isWarning'> = {}): readonly Trouble[] => [{ ...evidenceOf(status), detail, ...more }];
  const found = (type: string) => conditionOf(status, type);
  if (conditionsOf(status).length === 0) return say('has no conditions: the operator has not said how it is');
  const degraded = found('Degraded');
  if (degraded?.status === 'True') return say(`is Degraded${since(degraded, now)}: ${wordsOf(degraded)}`);
  const available = found('Available');
  if (available?.status !== 'True')
    return say(`is not Available${since(available, now)}: ${available ? wordsOf(available) : 'it has no such condition'}`);
  const behind = generationBehind(status, name, operated);
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
function generationBehind(status: KubeObject, name: ComponentStatusName | undefined, { installation }: OperatedFacts): string | undefined {
  const generation = name?.generation === 'installation' ? read(installation)?.metadata.generation : undefined;
  const seen = conditionsOf(status).flatMap(({ observedGeneration }) => observedGeneration ?? []);
  if (generation === undefined || seen.length === 0 || Math.max(...seen) >= generation) return undefined;
  return `is about generation ${Math.max(...seen)} of the Installation, which is at ${generation}: the operator has not answered its last change`;
}
