import type { KubeObject } from '../../kernel/object.ts';
import {
  type AutomaticSigns,
  type ExpectedCoverage,
  type HostEndpoint,
  hostEndpointOf,
  type Uncovered,
  whyUncovered,
} from '../policy-rules/index.ts';

/** Which expected nodes lack their automatic endpoint; each change is judged for its own node only. */
export class EndpointBoard {
  readonly #expected: ReadonlyMap<string, ExpectedCoverage>;
  readonly #signs: AutomaticSigns;
  readonly #apiGroup: string;
  readonly #endpoints = new Map<string, HostEndpoint>();
  readonly #open = new Map<string, string>();

  constructor(expected: readonly ExpectedCoverage[], signs: AutomaticSigns, apiGroup: string) {
    this.#expected = new Map(expected.map((one) => [one.node, one]));
    this.#signs = signs;
    this.#apiGroup = apiGroup;
  }

  get open(): readonly Uncovered[] {
    return [...this.#open].map(([node, why]) => ({ node, why }));
  }

  replaceAll(objects: readonly KubeObject[]): void {
    this.#endpoints.clear();
    for (const object of objects) this.#endpoints.set(object.metadata.name, hostEndpointOf(object, this.#apiGroup));
    const byNode = Map.groupBy(this.#endpoints.values(), ({ node }) => node);
    for (const node of this.#expected.keys()) this.#judge(node, byNode.get(node) ?? []);
  }

  put(object: KubeObject): void {
    const endpoint = hostEndpointOf(object, this.#apiGroup);
    this.#endpoints.set(endpoint.name, endpoint);
    this.#judgeAgain(endpoint.node);
  }

  drop(object: KubeObject): void {
    const gone = this.#endpoints.get(object.metadata.name);
    this.#endpoints.delete(object.metadata.name);
    if (gone) this.#judgeAgain(gone.node);
  }

  #judgeAgain(node: string): void {
    if (this.#expected.has(node))
      this.#judge(
        node,
        [...this.#endpoints.values()].filter((endpoint) => endpoint.node === node),
      );
  }

  #judge(node: string, endpoints: readonly HostEndpoint[]): void {
    const expected = this.#expected.get(node);
    const why = expected && whyUncovered(expected, endpoints, this.#signs);
    if (why === undefined) this.#open.delete(node);
    else this.#open.set(node, why);
  }
}
