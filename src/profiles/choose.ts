import { command } from '../kernel/argv.ts';
import { kubeconfigCommand } from '../kernel/command.ts';
import { counted } from '../kernel/counted.ts';
import { Fault } from '../kernel/fault.ts';
import { K } from '../kernel/kinds.ts';
import { nearest } from '../kernel/nearest.ts';
import { ApiFailure, type ClusterReader } from '../kernel/ports.ts';
import type { Profile } from '../kernel/profile.ts';
import { look, text } from '../kernel/step.ts';
import { shippedProfiles } from './index.ts';

/** The cluster as the user knows it. */
interface Place {
  readonly contextName?: string | undefined;
  readonly server: string;
}

function placeText({ contextName, server }: Place): string {
  return contextName === undefined || contextName === '' ? server : `context "${contextName}" (${server})`;
}

/**
 * `--profile NAME`; without it, the one shipped profile that the cluster matches. `any`: the command needs no service names, so no
 * request is sent.
 */
export async function chooseProfile(wanted: string | undefined, cluster: ClusterReader, any: boolean, place: Place): Promise<Profile> {
  if (wanted !== undefined) return namedProfile(wanted);
  if (any) return firstShipped();
  const [crds, daemonSets] = await Promise.all([
    cluster.list(K.CustomResourceDefinition, { metadataOnly: true }).catch(forbidden),
    cluster.list(K.DaemonSet, { metadataOnly: true }),
  ]);
  const where = placeText(place);
  const crdGroups = (crds ?? []).map(({ metadata }) => metadata.name.slice(metadata.name.indexOf('.') + 1));
  const workloads = daemonSets.map(({ metadata }) => ({ kind: 'DaemonSet', namespace: metadata.namespace ?? '', name: metadata.name }));
  try {
    return matchProfile({ crdGroups, workloads }, shippedProfiles, where);
  } catch (thrown) {
    if (crds || !(thrown instanceof Fault)) throw thrown;
    throw new Fault('usage', `no agents of a known name run on ${where}, and this account may not list CRDs, which tell more`, [
      `name the profile: --profile ${firstShipped().name}`,
      text`print the roles that let it: ${command`kubectl netsvc-upgrade permissions --for preflight-read-only --profile ${firstShipped().name} --path manifest`}`,
    ]);
  }
}

/** The agents that run tell more than CRDs do: a reader of workloads can do without. */
function forbidden(thrown: unknown): undefined {
  if (!(thrown instanceof ApiFailure) || thrown.status !== 403) throw thrown;
}

export function firstShipped(): Profile {
  const [first] = shippedProfiles;
  if (!first) throw new Error('no profile is shipped');
  return first;
}

function nearestShipped(wanted: string): string {
  const names = shippedProfiles.map(({ name }) => name);
  return nearest(wanted, names) ?? firstShipped().name;
}

/** `--profile NAME`. Throws Fault('usage') for a name that no profile has. */
export function namedProfile(wanted: string): Profile {
  const found = shippedProfiles.find((profile) => profile.name === wanted);
  if (found) return found;
  throw new Fault('usage', `there is no profile ${wanted}`, [
    `name ${shippedProfiles.map(({ name }) => name).join(' or ')} (docs/reference/profiles.md)`,
    look(text`see whether this one fits: ${command`kubectl netsvc-upgrade preflight --profile=${nearestShipped(wanted)}`}`),
  ]);
}

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
  const names = fitting.map(({ name }) => name);
  if (only) {
    const name = `--profile=${only.name}`;
    throw new Fault('usage', `${where} fits ${counted(names.length, 'profile')}: ${names.join(', ')}`, [
      `name the profile: ${name}`,
      text`begin with one that fits: ${command`kubectl netsvc-upgrade preflight ${name}`}`,
    ]);
  }
  throw new Fault('usage', `no Calico found on ${where}: wrong cluster?`, [
    'another context: --context NAME',
    'Calico under other names than those of a profile cannot be upgraded (docs/reference/profiles.md)',
    look(text`see the contexts: ${kubeconfigCommand`kubectl config get-contexts`}`),
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
