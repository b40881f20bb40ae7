import type { FleetVerdicts } from '../../src/features/policy-rules/host-endpoint-verdicts.ts';
import type { PolicyWorld } from '../../src/features/policy-rules/posture.ts';
import { changedForOthers } from '../../src/features/policy-rules/workloads-without-policy.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { calico } from '../../src/profiles/calico.ts';
import type { Api, ApiList } from '../control-plane/api.ts';
import type { RealHost } from './calculation-graph.ts';
import { type Counts, difference, isOfHosts, listed } from './compared-hosts.ts';
import { realPorts, realSets } from './real-posture.ts';

/** Policies in force on pods there, in whose rules other addresses of hosts change than here. */
export async function otherForPods(
  api: Api,
  shots: readonly ReadonlyMap<string, RealHost>[],
  { global, namespaced }: FleetVerdicts,
  networkPolicies: readonly KubeObject[],
  world: PolicyWorld,
  counts: Counts,
): Promise<readonly string[]> {
  const [pods, namespaces] = await Promise.all(['pods', 'namespaces'].map((plural) => api.get<ApiList>(`/api/v1/${plural}`)));
  const byName = new Map(networkPolicies.map((one) => [`${one.metadata.namespace}/${one.metadata.name}`, one]));
  const facts = { pods: objectsIn(pods), namespaces: objectsIn(namespaces), profile: calico };
  const told = new Map(changedForOthers({ global, namespaced }, byName, facts, [], world).map((one) => [one.name, one]));
  const [now = [], ...later] = shots.map((shot) => [...shot.values()]);
  const inForce = new Set(
    now.flatMap(({ workloads = {} }) => Object.values(workloads).flatMap(({ ingress, egress }) => [...ingress.pols, ...egress.pols])),
  );
  return [...inForce].flatMap((lane) => {
    const id = lane.replace(/^[^:]*:/, '');
    const name = id.replace(/^GlobalNetworkPolicy\/\/|^NetworkPolicy\//, '');
    return later.flatMap((hosts, at) => {
      const [before, after] = [now, hosts].map((some) => membersIn(some, id));
      const [comes, goes] = [difference(after ?? [], before ?? []), difference(before ?? [], after ?? [])];
      counts.pods += comes.length + goes.length > 0 ? 1 : 0;
      const ours = told.get(name)?.[at === 0 ? 'atEnable' : 'atDelete'] ?? [];
      const here = `+${listed(ours.flatMap((one) => one.comes))} -${listed(ours.flatMap((one) => one.goes))}`;
      const there = `+${listed(comes)} -${listed(goes)}`;
      return here === there ? [] : [`${id} of pods, ${at === 0 ? 'enable' : 'delete'}: ${here} here, ${there} there`];
    });
  });
}

const objectsIn = (list: ApiList | undefined): readonly KubeObject[] => (list?.items ?? []) as unknown as readonly KubeObject[];

/** On whichever node it is in force: its sets are the same on each. */
function membersIn(hosts: readonly RealHost[], id: string): readonly (readonly string[])[] {
  const rules = hosts.map(({ policies = {} }) => policies[id]).find((one) => one !== undefined) ?? { in: [], out: [] };
  return [rules.in, rules.out].flatMap((some) => [
    ...realSets(some, isOfHosts),
    ...realPorts(some, isOfHosts).map(([, members]) => members),
  ]);
}
