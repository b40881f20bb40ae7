import { counted } from '../kernel/counted.ts';
import { Fault } from '../kernel/fault.ts';
import type { Profile } from '../kernel/profile.ts';

/** The little of a cluster that tells one service from another. */
export interface MatchFacts {
  /** API groups of its CRDs. */
  readonly crdGroups: readonly string[];
  readonly workloads: readonly { readonly kind: string; readonly namespace: string; readonly name: string }[];
}

/**
 * The one profile that fits: by the running agents, else by CRD groups, which stay behind when a service is removed. `where` names the
 * cluster for the user. Throws Fault('usage') if none or several fit.
 */
export function matchProfile(facts: MatchFacts, profiles: readonly Profile[], where: string): Profile {
  const running = profiles.filter((profile) => runs(profile, facts));
  const fitting = running.length > 0 ? running : profiles.filter((profile) => hasCrds(profile, facts));
  const [only, second] = fitting;
  if (only && !second) return only;
  const names = (fitting.length > 0 ? fitting : profiles).map(({ name }) => name);
  const name = `--profile ${names[0] ?? 'FILE'}`;
  if (only)
    throw new Fault('usage', `${where} fits ${counted(names.length, 'profile')}: ${names.join(', ')}`, [`Name the profile: ${name}`]);
  throw new Fault('usage', `no Calico found on ${where}: wrong cluster?`, [
    'another context: --context NAME; kubectl config get-contexts lists them',
    `Calico under other names: a profile of your own, --profile FILE (docs/reference/profiles.md)`,
  ]);
}

function runs(profile: Profile, { workloads }: MatchFacts): boolean {
  const agents = [...profile.variants.map(({ agent }) => agent), profile.operator.agent];
  return agents.some(({ kind, namespace, name }) =>
    workloads.some((workload) => workload.kind === kind && workload.namespace === namespace && workload.name === name),
  );
}

function hasCrds({ crdGroup, apiGroup, operatorGroup }: Profile, { crdGroups }: MatchFacts): boolean {
  return [crdGroup, apiGroup, operatorGroup].some((group) => crdGroups.includes(group));
}
