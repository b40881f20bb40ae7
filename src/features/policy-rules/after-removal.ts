import { type AutomaticSigns, effective, type HostEndpoint, originOf } from './host-endpoint.ts';
import { type PolicyWorld, postureOf, UNPOLICED } from './posture.ts';
import { compare, type LaneVerdict } from './verdict.ts';

/** A host whose old endpoints are gone, and in what it is policed otherwise than they would have it by the policies of today. */
export interface AfterRemoval {
  readonly node: string;
  readonly changes: readonly LaneVerdict[];
}

interface Fleet {
  readonly nodes: readonly { readonly name: string }[];
  readonly endpoints: readonly HostEndpoint[];
  readonly signs: AutomaticSigns;
  readonly world: PolicyWorld;
}

/**
 * The verdicts once more, by what there really is and not by what is expected: the automatic endpoint with its labels as they are, or none.
 * `removed`: old endpoints that the migration deleted. Hosts for which nothing changes are left out.
 */
export function afterRemoval(removed: readonly HostEndpoint[], { nodes, endpoints, signs, world }: Fleet): readonly AfterRemoval[] {
  const names = new Set(nodes.map(({ name }) => name));
  const standing = Map.groupBy(endpoints, ({ node }) => node);
  const posture = (some: readonly HostEndpoint[]) => {
    const one = effective(some);
    return one ? postureOf(one, world) : UNPOLICED;
  };
  return [...Map.groupBy(removed, ({ node }) => node)].flatMap(([node, old]) => {
    const here = standing.get(node) ?? [];
    const byHand = here.filter((one) => originOf(one, signs) !== 'automatic');
    const changes = names.has(node) ? compare(posture([...old, ...byHand]), posture(here)) : [];
    return changes.length > 0 ? [{ node, changes }] : [];
  });
}
