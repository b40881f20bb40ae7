import { type Evidence, read } from '../../kernel/check.ts';
import { canonicalAddress, isIPv4 } from '../../kernel/ip-text.ts';
import { jsonAt, textAt } from '../../kernel/json.ts';
import { internalAddresses } from '../../kube/lean-objects.ts';
import { evidenceOf, objectsOf, type PreflightFacts, valuesAt } from '../survey/index.ts';

/** Names of stored resources that name nothing, where that is most likely a mistake. */
export function lostNames(facts: PreflightFacts): readonly Evidence[] {
  return [...missingFilters(facts), ...hostsMisnamed(facts)];
}

/** Without its filter the agents take and announce every route of that peer. */
function missingFilters(facts: PreflightFacts): readonly Evidence[] {
  const peers = objectsOf(facts, 'bgppeers').filter(({ spec }) => jsonAt(spec, 'filters') !== undefined);
  const known = new Set(peers.length === 0 ? [] : objectsOf(facts, 'bgpfilters').map(({ metadata }) => metadata.name));
  return peers.flatMap((peer) => {
    const missing = valuesAt(peer.spec, ['filters'])
      .map(String)
      .filter((name) => !known.has(name));
    return missing.length === 0 ? [] : [evidenceOf(peer, `spec.filters: there is no BGPFilter ${missing.join(', ')}: it filters nothing`)];
  });
}

/** A host beside the cluster has host endpoints too. It is a node by another name where the first part of its name or an address says so. */
function hostsMisnamed(facts: PreflightFacts): readonly Evidence[] {
  const all = objectsOf(facts, 'hostendpoints');
  if (all.length === 0) return [];
  const nodes = read(facts.nodes);
  const names = new Set(nodes.map(({ metadata }) => metadata.name));
  const byShort = new Map(nodes.map(({ metadata: { name } }) => [shortName(name), name]));
  const byAddress = new Map(
    nodes.flatMap((node) => internalAddresses(node).map((one) => [canonicalAddress(one) ?? one, node.metadata.name])),
  );
  return all.flatMap((endpoint) => {
    const host = textAt(endpoint.spec, 'node');
    if (host === undefined || names.has(host)) return [];
    const addresses = valuesAt(endpoint.spec, ['expectedIPs']).map(String);
    const meant = byShort.get(shortName(host)) ?? addresses.flatMap((one) => byAddress.get(canonicalAddress(one) ?? one) ?? [])[0];
    return meant === undefined ? [] : [evidenceOf(endpoint, `spec.node: there is no node ${host}; Node/${meant} may be meant`)];
  });
}

/** Its first part. An address that is a name has none. */
function shortName(name: string): string {
  return isIPv4(name) ? name : (name.toLowerCase().split('.')[0] ?? name);
}
