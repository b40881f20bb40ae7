import type { KubeObject } from '../../src/kernel/object.ts';
import { storedMetadata } from '../../src/kube/stored-metadata.ts';
import type { Api, ApiObject } from '../control-plane/api.ts';

/** A host, and what is watched of it. */
interface HostLabels {
  readonly node: string;
  /** Labels that a person gave the node. */
  readonly labels: WatchedHost['labels'];
  /** Labels of all its old endpoints. */
  readonly copied: WatchedHost['labels'];
}

/** Looks at the hosts at each change of an endpoint or a node, in the order in which the API server tells of them. */
export function watchHosts(api: Api, paths: Readonly<Record<'endpoints' | 'nodes', string>>, hosts: readonly HostLabels[], group: string) {
  const [endpoints, nodes, end] = [new Map<string, ApiObject>(), new Map<string, ApiObject>(), new AbortController()];
  let losses: string[] | undefined;
  const lookAtHosts = () => {
    const all = [...endpoints.values()] as unknown as readonly KubeObject[];
    for (const { node, copied } of hosts) losses?.push(...hostLosses({ name: node, labels: copied }, all, group));
  };
  const lookAtNode = (live: ApiObject) => {
    nodes.set(live.metadata.name, live);
    const host = hosts.find(({ node }) => node === live.metadata.name);
    if (host) losses?.push(...nodeLosses({ name: host.node, labels: host.labels }, labelsOf(live)));
  };
  const seen = (one: ApiObject) => {
    endpoints.set(one.metadata.name, one);
    lookAtHosts();
  };
  const gone = ({ metadata }: ApiObject) => {
    endpoints.delete(metadata.name);
    lookAtHosts();
  };
  const followed = Promise.all([api.follow(paths.endpoints, seen, end.signal, gone), api.follow(paths.nodes, lookAtNode, end.signal)]);
  return {
    /** What hosts lack from now on, at any moment. */
    begin(): readonly string[] {
      losses = [];
      return losses;
    },
    /** What happens from now on is not the program's doing. */
    rest() {
      losses = undefined;
    },
    /** True once all that is stored was looked at. */
    hasSeen: (storedEndpoints: readonly ApiObject[], storedNodes: readonly ApiObject[]) =>
      isSeen(storedEndpoints, endpoints) && isSeen(storedNodes, nodes),
    async stop() {
      end.abort();
      await followed;
    },
  };
}

function isSeen(stored: readonly ApiObject[], seen: ReadonlyMap<string, ApiObject>): boolean {
  if (stored.length !== seen.size) return false;
  return stored.every(({ metadata }) => seen.get(metadata.name)?.metadata.resourceVersion === metadata.resourceVersion);
}

export const labelsOf = ({ metadata }: ApiObject): Readonly<Record<string, string>> =>
  (metadata.labels ?? {}) as Readonly<Record<string, string>>;

/** A host whose old endpoints had these labels; a policy selects hosts by `role=host`, which every old endpoint has. */
interface WatchedHost {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** What a host lacks at this moment: an endpoint, one in force that the policy reaches, or a label that none of its endpoints has. */
export function hostLosses({ name, labels }: WatchedHost, endpoints: readonly KubeObject[], apiGroup: string): readonly string[] {
  const mine = endpoints.filter(({ spec }) => (spec as { readonly node?: string }).node === name);
  if (mine.length === 0) return [`${name} has no endpoint`];
  const inForce = mine.toSorted((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1))[0];
  const labelsOf = (one: KubeObject) => storedMetadata(one, apiGroup).labels;
  // The agents go by the first name of a node, and the policy by this label: without it the host would be open.
  if (inForce && labelsOf(inForce).role !== 'host') return [`${name} is not policed: ${inForce.metadata.name} is in force`];
  const has = mine.map(labelsOf);
  return Object.entries(labels).flatMap(([key, value]) => (has.some((one) => one[key] === value) ? [] : [`${name} lost ${key}`]));
}

/** Labels of a person that a node had before anything was done, and has no more. */
export function nodeLosses({ name, labels }: WatchedHost, now: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(labels).flatMap(([key, value]) => (now[key] === value ? [] : [`node ${name} lost ${key} of a person`]));
}
