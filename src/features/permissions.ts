import { K } from '../kernel/kinds.ts';
import type { Profile } from '../kernel/profile.ts';
import type { AnyStage } from '../kernel/stage.ts';
import { chain, chains, runNeeds, usualChain } from './chain.ts';
import { POLICY_PLURALS } from './policies/index.ts';
import { allow, asked, type Needs, needs, type Permission, type PlanScope, reading, writing } from './rights/index.ts';

/** What the upgrade added and nothing uses. */
const addedObjects: Needs = () => {
  const why = 'objects that the upgrade added and nothing uses';
  const kinds = [K.ClusterRole, K.ClusterRoleBinding, K.Role, K.RoleBinding, K.PodDisruptionBudget, K.ServiceAccount];
  return [...allow(['list'], [K.ClusterRoleBinding, K.RoleBinding, K.Pod], why), ...allow(['delete'], kinds, why)];
};

/** What the newer operator has made, and the older one does not know. */
const newerObjects: Needs = ({ operator: { end }, operatorGroup, crdGroup }, { operated = true }) => {
  if (!end || !operated) return [];
  const why = 'objects of the newer operator that the older one does not know';
  const stored = ['tiers', ...POLICY_PLURALS].map((plural) => ({ group: crdGroup, plural }));
  const ofApi = [K.Deployment, K.Service, K.PodDisruptionBudget, K.ServiceAccount, K.RoleBinding];
  return [
    ...allow(['list', 'delete'], [{ group: operatorGroup, plural: end.statusPlural }, ...stored], why),
    ...allow(['list', 'delete'], ofApi, why),
  ];
};

const READS: readonly string[] = ['get', 'list', 'watch'];

const needsOf = (ids: string): readonly Needs[] => of(chain.filter(({ id }) => id === ids || id.startsWith(`${ids}-`)));
const of = (stages: readonly AnyStage[]): readonly Needs[] => stages.flatMap((stage) => stage.needs);

/** What of a preflight is reading: no dry run, no Secret, and no search of everything, which would be one of Secrets too. */
const readOnly: Needs = (profile, scope) =>
  reading(needsOf('preflight'))
    .flatMap((need) => need(profile, { ...scope, documents: [] }))
    .filter(({ request: { verb, group, resource } }) => READS.includes(verb) && resource !== 'secrets' && group !== '*');

/** The command of a stage. Three stages have one command, `ownerrefs`. */
const commandOf = ({ id }: AnyStage): string => id.replace(/^ownerrefs-.*/, 'ownerrefs');

/** Every command that asks a cluster, with what it needs; the others need no account. Each stage has its own, unless it is said here. */
const commandNeeds: Readonly<Record<string, readonly Needs[]>> = {
  ...Object.fromEntries(chain.map(commandOf).map((command) => [command, writing(needsOf(command))])),
  preflight: reading(needsOf('preflight')),
  'preflight-read-only': [readOnly],
  // With this role besides, preflight may try nodes as well.
  'probe-nodes': [...reading(needsOf('preflight')), needs.lock, ...needsOf('probe-nodes')],
  plan: reading(of(usualChain)),
  run: runNeeds,
  commit: runNeeds,
  rollback: [...writing(of(chains.rollback)), needs.canary, needs.networkProbe, addedObjects, newerObjects],
  // With this role besides, run and wait may probe the network; the namespace is anybody's choice.
  'probe-network': [
    needs.session,
    needs.lock,
    (profile, scope) => needs.networkProbe(profile, { ...scope, probeNamespace: scope.probeNamespace ?? 'default' }),
  ],
  status: [needs.session, needs.recordRead, needs.holdRead, needs.strategyRead],
  report: [needs.session, needs.stateRead],
  apply: [...writing(needsOf('apply')), needs.canary],
  wait: [needs.session, needs.recordRead, ...needsOf('wait')],
  unlock: [needs.session, needs.recordRead, needs.lock],
};

/** Commands for which there is a role. */
export const permittedCommands: readonly string[] = Object.keys(commandNeeds);

/** Everything that a command asks of the account, each once; nothing for a command that asks no cluster. */
export function permissionsOf(command: string, profile: Profile, scope: PlanScope): readonly Permission[] {
  return asked(commandNeeds[command] ?? [], profile, scope);
}
