import { read } from '../../kernel/check.ts';
import type { DefectCondition } from '../../kernel/defect.ts';
import { isIPv4, isIPv6 } from '../../kernel/ip-text.ts';
import { jsonAt } from '../../kernel/json.ts';
import { findWorkload } from '../rollout/index.ts';
import { passes, specOf, valuesAt } from '../survey/index.ts';
import type { DefectWorld, Seen } from './defect-world.ts';

type Of<T extends DefectCondition['type']> = Extract<DefectCondition, { type: T }>;

/** Conditions that are seen on what an operator holds. */
export const operatorConditions: { readonly [T in 'installation' | 'apiServerByClusterDns']: Seen<Of<T>> } = {
  installation: ({ field, ...test }, { facts }) => {
    const operated = facts.operated && read(facts.operated.installation);
    const values = operated ? valuesAt(specOf(operated), field.split('.')).map(String) : [];
    return operated && passes(values, test) ? [`spec.${field} of the Installation is ${values[0] ?? 'not set'}`] : undefined;
  },
  apiServerByClusterDns: (_condition, world) => {
    const host = endpointName(world);
    return host !== undefined && usesClusterDns(world) ? [`the API server is ${host}`] : undefined;
  },
};

/** The host by which the operator and the agents reach the API server, where it is a name. */
function endpointName({ facts, context: { profile } }: DefectWorld): string | undefined {
  const { endpoint, namespace } = profile.operator;
  if (!endpoint) return undefined;
  const config = read(facts.configMaps).find(({ metadata }) => metadata.name === endpoint.configMap && metadata.namespace === namespace);
  const host = String(jsonAt(config, 'data', endpoint.hostKey) ?? '').replace(/^\[(.*)\]$/, '$1');
  return host === '' || isIPv4(host) || isIPv6(host) ? undefined : host;
}

/** The target's operator gives agents its own resolver, unless the Installation says otherwise. Agents that had that resolver already keep it. */
function usesClusterDns({ facts, context: { profile } }: DefectWorld): boolean {
  const { operator } = profile;
  const live = findWorkload(read(facts.daemonSets), operator.agent);
  if (dnsOf(live?.spec).policy === CLUSTER) return false;
  const own = facts.operated && read(facts.operated.installation);
  const set = dnsOf(jsonAt(own?.spec, 'calicoNodeDaemonSet', 'spec'));
  if (set.config || set.policy !== undefined) return set.policy === CLUSTER && !set.config;
  const name = { kind: 'Deployment', namespace: operator.namespace, name: operator.deployment } as const;
  const isOperator = ({ kind, metadata }: { readonly kind: string; readonly metadata: { readonly name: string } }) =>
    kind === name.kind && metadata.name === name.name;
  if (dnsOf(findWorkload(read(facts.deployments), name)?.spec).config) return false;
  // Values of a chart may set another policy than the manifest has.
  const wanted = dnsOf((read(facts.rendered).find(isOperator) ?? read(facts.target).documents.find(isOperator))?.spec);
  return !wanted.config && (wanted.policy === undefined || wanted.policy === CLUSTER);
}

const CLUSTER = 'ClusterFirstWithHostNet';

function dnsOf(spec: unknown): { readonly policy: unknown; readonly config: boolean } {
  const pod = jsonAt(spec, 'template', 'spec');
  return { policy: jsonAt(pod, 'dnsPolicy'), config: jsonAt(pod, 'dnsConfig') !== undefined };
}
