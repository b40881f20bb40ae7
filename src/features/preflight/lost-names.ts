import { type Evidence, read } from '../../kernel/check.ts';
import { canonicalAddress } from '../../kernel/ip-text.ts';
import { jsonAt, textAt } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
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
  return all.flatMap((endpoint) => {
    const host = textAt(endpoint.spec, 'node');
    if (host === undefined || names.has(host)) return [];
    const meant = nodes.find((node) => isLike(node, host, valuesAt(endpoint.spec, ['expectedIPs']).map(String)));
    return meant ? [evidenceOf(endpoint, `spec.node: there is no node ${host}; Node/${meant.metadata.name} may be meant`)] : [];
  });
}

function isLike(node: KubeObject, host: string, addresses: readonly string[]): boolean {
  const short = (name: string) => name.toLowerCase().split('.')[0];
  const own = internalAddresses(node).map((one) => canonicalAddress(one));
  return short(node.metadata.name) === short(host) || addresses.some((one) => own.includes(canonicalAddress(one) ?? ''));
}
