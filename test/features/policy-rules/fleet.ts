import { globalPolicyOf, inOrder, tierOf } from '../../../src/features/policy-rules/global-policy.ts';
import { automaticSettings, hostEndpointOf } from '../../../src/features/policy-rules/host-endpoint.ts';
import type { FleetFacts } from '../../../src/features/policy-rules/host-endpoint-verdicts.ts';
import { ruleSidesOf } from '../../../src/features/policy-rules/rule-sides.ts';
import type { Rule } from '../../../src/features/policy-rules/rules.ts';
import type { Labels } from '../../../src/features/policy-rules/selector.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { calico } from '../../../src/profiles/calico.ts';

export const { apiGroup: GROUP, labels: SIGNS, allowAllProfile: ALLOW_ALL } = calico;

export function object(kind: string, name: string, spec: object, labels: Labels = {}, annotations: Labels = {}): KubeObject {
  return { apiVersion: `crd.${GROUP}/v1`, kind, metadata: { name, labels, annotations }, spec };
}

export function hep(name: string, node: string, labels: Labels = {}, spec: object = {}): KubeObject {
  return object('HostEndpoint', name, { node, interfaceName: '*', ...spec }, labels);
}

export const DENY: readonly Rule[] = [{ action: 'Deny' }];

/** A policy on ingress and egress of what the selector selects. */
export function policy(name: string, selector: string, spec: object = {}): KubeObject {
  return object('GlobalNetworkPolicy', name, { selector, types: ['Ingress', 'Egress'], ingress: DENY, egress: DENY, ...spec });
}

export interface Fleet {
  readonly nodes: Readonly<Record<string, Labels>>;
  /** Labels that only the service's own node has. */
  readonly ownLabels?: Readonly<Record<string, Labels>>;
  readonly endpoints?: readonly KubeObject[];
  readonly policies?: readonly KubeObject[];
  /** Of a namespace. */
  readonly networkPolicies?: readonly KubeObject[];
  /** Of the node's own automatic endpoint. */
  readonly addresses?: Readonly<Record<string, readonly string[]>>;
  readonly tiers?: readonly KubeObject[];
  readonly profiles?: Readonly<
    Record<string, { readonly labels?: Labels; readonly ingress?: readonly Rule[]; readonly egress?: readonly Rule[] }>
  >;
  /** `spec.controllers.node.hostEndpoint` */
  readonly hostEndpoint?: object;
  /** True in eBPF mode. */
  readonly untracked?: boolean;
}

export function fleetOf({
  nodes,
  ownLabels = {},
  endpoints = [],
  policies = [],
  networkPolicies = [],
  addresses = {},
  tiers = [],
  profiles = {},
  hostEndpoint = {},
  untracked = false,
}: Fleet): FleetFacts {
  const allTiers = tiers.map(tierOf);
  const named = Object.entries(profiles);
  const inForce = policies.map((each) => globalPolicyOf(each, calico));
  return {
    nodes: Object.entries(nodes).map(([name, labels]) => ({
      name,
      node: name,
      labels,
      ownLabels: ownLabels[name] ?? {},
      addresses: addresses[name] ?? [],
    })),
    endpoints: endpoints.map((endpoint) => hostEndpointOf(endpoint, GROUP)),
    settings: automaticSettings({ controllers: { node: { hostEndpoint } } }),
    signs: SIGNS,
    rules: {
      global: new Map(policies.map((one) => [one.metadata.name, ruleSidesOf(one, calico)])),
      namespaced: new Map(networkPolicies.map((one) => [`${one.metadata.namespace}/${one.metadata.name}`, ruleSidesOf(one, calico)])),
      profiles: new Map(named.map(([name, spec]) => [name, ruleSidesOf(object('Profile', name, spec), calico)])),
    },
    world: {
      policies: inOrder(inForce, allTiers),
      tiers: new Map(allTiers.map((tier) => [tier.name, tier])),
      profiles: new Map(named.map(([name, { labels = {}, ingress = [], egress = [] }]) => [name, { labels, rules: { ingress, egress } }])),
      allowAllProfile: ALLOW_ALL,
      untracked,
    },
  };
}
