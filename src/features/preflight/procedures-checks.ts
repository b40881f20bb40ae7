import { command } from '../../kernel/argv.ts';
import type { Context } from '../../kernel/context.ts';
import { type Installation, isKeyValue, type Unfinished } from '../../kernel/installation.ts';
import { jsonAt } from '../../kernel/json.ts';
import { refOf } from '../../kernel/object.ts';
import type { ProcedureNames, Profile } from '../../kernel/profile.ts';
import { isOlder } from '../../kernel/release.ts';
import { agentSetting } from '../rollout/index.ts';
import {
  judgeUnfinished,
  lockOf,
  objectsOf,
  type PreflightCheck,
  type PreflightFacts,
  procedures,
  specOf,
  withInstallation,
} from '../survey/index.ts';

/** What only the preflight reads of them: a store behind the CLI, and the settings of the data plane. */
export const noneUnfinished: PreflightCheck = {
  ...procedures.atPreflight,
  judge: withInstallation((installation, facts, context) => {
    const names = context.profile.procedures;
    const more = names ? [...lockedBehindCli(installation, facts, names, context), ...halfEbpf(installation, facts, names, context)] : [];
    const found = [...installation.unfinished, ...more];
    const unasked = names && found.length === 0 ? notAsked(installation, facts, names, context) : [];
    // Not every upgrade of a key-value installation needs the CLI: without it the lock is yours to look at.
    return unasked.length === 0
      ? judgeUnfinished(found, context.profile)
      : { ...judgeUnfinished(unasked, context.profile), severity: 'warning' };
  }),
};

function lockedBehindCli({ datastore }: Installation, { inStore }: PreflightFacts, names: ProcedureNames, { profile }: Context) {
  if (!isKeyValue({ datastore }) || 'unread' in inStore) return [];
  const { clusterInformation } = profile;
  return (inStore.value?.clusterInformation ?? [])
    .filter(({ metadata }) => metadata.name === clusterInformation.name)
    .flatMap((one) => lockOf({ ...one, kind: clusterInformation.kind }, names, profile))
    .map((one) => ({ ...one, next: shownByCli(profile) }));
}

function notAsked(
  { datastore }: Installation,
  { inStore }: PreflightFacts,
  { lock }: ProcedureNames,
  { profile }: Context,
): readonly Unfinished[] {
  if (!isKeyValue({ datastore }) || !('unread' in inStore)) return [];
  const { crdGroup, clusterInformation } = profile;
  const { kind, name } = clusterInformation;
  const ref = { apiVersion: `${crdGroup}/v1`, kind, name };
  const detail = `whether the datastore is locked could not be read: ${inStore.unread}`;
  const hint = `Look yourself. If ${lock.field} is false, find out who locked it, and unlock it before the upgrade.`;
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
