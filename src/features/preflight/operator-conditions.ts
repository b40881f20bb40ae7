import { read } from '../../kernel/check.ts';
import type { DefectCondition } from '../../kernel/defect.ts';
import { isIPv4, isIPv6 } from '../../kernel/ip-text.ts';
import { jsonAt, textAt } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { findWorkload } from '../rollout/index.ts';
import { allContainersOf, passes, specOf, valuesAt } from '../survey/index.ts';
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

/**
 * The host by which the operator and the agents reach the API server, where it is a name. The operator takes it from its ConfigMap, or else has
 * it in its own environment, and hands it on to the agents.
 */
function endpointName(world: DefectWorld): string | undefined {
  const { facts, installation, context } = world;
  const { endpoint, namespace } = context.profile.operator;
  if (!endpoint) return undefined;
  const own = installation.operator?.namespace ?? namespace;
  const isNamed = ({ metadata }: KubeObject) => metadata.name === endpoint.configMap && metadata.namespace === own;
  const planned = read(facts.rendered).filter(({ kind }) => kind === 'ConfigMap');
  const config = planned.find(isNamed) ?? read(facts.configMaps).find(isNamed);
  const { live, rendered } = operatorsOf(world);
  const set = textAt(config, 'data', endpoint.hostKey) || ownHost(rendered ?? live, endpoint.hostKey);
  const host = (set ?? '').replace(/^\[(.*)\]$/, '$1');
  // `localhost` is in the hosts file of the node.
  return host === '' || host === 'localhost' || isIPv4(host) || isIPv6(host) ? undefined : host;
}

/** Kubernetes itself sets this variable to the address of a Service, which no container names. */
function ownHost(operator: KubeObject | undefined, variable: string): string | undefined {
  if (!operator) return undefined;
  return allContainersOf(operator)
    .flatMap(({ env = [] }) => env)
    .find(({ name }) => name === variable)?.value;
}

/** The operator as it runs, and as the target's chart or manifest has it. */
function operatorsOf({ facts, installation, context }: DefectWorld) {
  const { namespace, deployment } = context.profile.operator;
  const name = { kind: 'Deployment', ...(installation.operator ?? { namespace, name: deployment }) } as const;
  const isNamed = ({ kind, metadata }: KubeObject) => kind === name.kind && metadata.name === name.name;
  const rendered = read(facts.rendered).find(isNamed);
  const wanted = () => rendered ?? read(facts.target).documents.find(isNamed);
  return { live: findWorkload(read(facts.deployments), name), rendered, wanted };
}

/** The target's operator gives agents its own resolver, unless the Installation says otherwise. Agents that had that resolver already keep it. */
function usesClusterDns(world: DefectWorld): boolean {
  const { facts, context } = world;
  const agents = findWorkload(read(facts.daemonSets), context.profile.operator.agent);
  if (dnsOf(agents?.spec).policy === CLUSTER) return false;
  const own = facts.operated && read(facts.operated.installation);
  const set = dnsOf(jsonAt(own?.spec, 'calicoNodeDaemonSet', 'spec'));
  if (set.config || set.policy !== undefined) return set.policy === CLUSTER && !set.config;
  const { live, wanted: planned } = operatorsOf(world);
  if (dnsOf(live?.spec).config) return false;
  // Values of a chart may set another policy than the manifest has.
  const wanted = dnsOf(planned()?.spec);
  return !wanted.config && (wanted.policy === undefined || wanted.policy === CLUSTER);
}

const CLUSTER = 'ClusterFirstWithHostNet';

function dnsOf(spec: unknown): { readonly policy: unknown; readonly config: boolean } {
  const pod = jsonAt(spec, 'template', 'spec');
  return { policy: jsonAt(pod, 'dnsPolicy'), config: jsonAt(pod, 'dnsConfig') !== undefined };
}
