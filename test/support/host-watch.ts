import type { KubeObject } from '../../src/kernel/object.ts';
import type { Api, ApiObject } from '../control-plane/api.ts';
import { hostLosses, nodeLosses, type WatchedHost } from './host-losses.ts';

/** A host, and what is watched of it. */
export interface HostLabels {
  readonly node: string;
  /** Labels that a person gave the node. */
  readonly labels: WatchedHost['labels'];
  /** Labels of all its old endpoints. */
  readonly copied: WatchedHost['labels'];
}

export interface HostWatchPaths {
  readonly endpoints: string;
  readonly nodes: string;
}

/** Looks at the hosts at each change of an endpoint or a node, in the order in which the API server tells of them. */
export class HostWatch {
  readonly #hosts: readonly HostLabels[];
  readonly #group: string;
  readonly #endpoints = new Map<string, ApiObject>();
  readonly #nodes = new Map<string, ApiObject>();
  readonly #end = new AbortController();
  readonly #followed: Promise<unknown>;
  #losses: string[] | undefined;

  constructor(api: Api, paths: HostWatchPaths, hosts: readonly HostLabels[], group: string) {
    [this.#hosts, this.#group] = [hosts, group];
    const { signal } = this.#end;
    const endpoint = (change: () => void) => {
      change();
      this.#lookAtHosts();
    };
    this.#followed = Promise.all([
      api.follow(
        paths.endpoints,
        (one) => endpoint(() => this.#endpoints.set(one.metadata.name, one)),
        signal,
        ({ metadata }) => endpoint(() => this.#endpoints.delete(metadata.name)),
      ),
      api.follow(paths.nodes, (one) => this.#lookAtNode(one), signal),
    ]);
  }

  /** What hosts lack from now on, at any moment. */
  begin(): readonly string[] {
    this.#losses = [];
    return this.#losses;
  }

  /** What happens from now on is not the program's doing. */
  rest(): void {
    this.#losses = undefined;
  }

  /** True once all that is stored was looked at. */
  hasSeen(endpoints: readonly ApiObject[], nodes: readonly ApiObject[]): boolean {
    return isSeen(endpoints, this.#endpoints) && isSeen(nodes, this.#nodes);
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#followed;
  }

  #lookAtHosts(): void {
    const all = [...this.#endpoints.values()] as unknown as readonly KubeObject[];
    for (const { node, copied } of this.#hosts) this.#losses?.push(...hostLosses({ name: node, labels: copied }, all, this.#group));
  }

  #lookAtNode(live: ApiObject): void {
    this.#nodes.set(live.metadata.name, live);
    const host = this.#hosts.find(({ node }) => node === live.metadata.name);
    if (host) this.#losses?.push(...nodeLosses({ name: host.node, labels: host.labels }, labelsOf(live)));
  }
}

function isSeen(stored: readonly ApiObject[], seen: ReadonlyMap<string, ApiObject>): boolean {
  if (stored.length !== seen.size) return false;
  return stored.every(({ metadata }) => seen.get(metadata.name)?.metadata.resourceVersion === metadata.resourceVersion);
}

export const labelsOf = ({ metadata }: ApiObject): Readonly<Record<string, string>> =>
  (metadata.labels ?? {}) as Readonly<Record<string, string>>;
