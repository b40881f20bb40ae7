import type { Labels } from '../../src/features/policy-rules/selector.ts';
import type { KubeObject } from '../../src/kernel/object.ts';

type Random = () => number;

export type RandomFleet = ReturnType<typeof randomFleet>;

export const NODES = ['n1', 'n2', 'n3', 'n4'];
export const NAMESPACES: Readonly<Record<string, Labels>> = { shop: { team: 'a' }, web: { team: 'b', zone: 'x' } };
/** The same in every world: policies select them, and their addresses stay. */
export const PODS = [
  { name: 'pod-1', namespace: 'shop', node: 'n1', labels: { role: 'a', app: 'x' } },
  { name: 'pod-2', namespace: 'shop', node: 'n2', labels: { role: 'b' } },
  { name: 'pod-3', namespace: 'shop', node: 'n3', labels: {} },
  { name: 'pod-4', namespace: 'web', node: 'n4', labels: { role: 'host', zone: 'ab' } },
  { name: 'pod-5', namespace: 'web', node: 'n1', labels: { team: 'x' } },
];
const KEYS = ['role', 'zone', 'team', 'app'];
const VALUES = ['a', 'b', 'x', 'host', 'ab'];
const ALLOW_ALL = 'projectcalico-default-allow';

const OF_ACCOUNTS = ['ksa.shop.default'];
const PROFILES = [
  ...[[], [], [ALLOW_ALL], ['kns.shop'], ['kns.shop', 'kns.web'], ['none'], ['none', ALLOW_ALL], ['kns.web', 'none']],
  ...[
    [...OF_ACCOUNTS, ALLOW_ALL],
    [...OF_ACCOUNTS, 'none'],
  ],
];
const port = (name: string, protocol: string, number: number) => ({ name, protocol, port: number });
const PORTS = [[], [], [port('http', 'TCP', 80)], [port('http', 'UDP', 81), port('ssh', 'TCP', 22)]];
/** Keys of namespaces and of service accounts. */
const OF_SPACES = ['team', 'zone', 'projectcalico.org/name'];
const TYPES = [['Ingress', 'Egress'], ['Ingress'], ['Egress'], undefined];

const pick = <T>(random: Random, some: readonly T[]): T => some[Math.floor(random() * some.length)] as T;
const chance = (random: Random, share: number): boolean => random() < share;
const some = <T>(random: Random, most: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: Math.floor(random() * (most + 1)) }, (_, index) => make(index));

function labels(random: Random, most = 3): Labels {
  return Object.fromEntries(some(random, most, () => [pick(random, KEYS), pick(random, VALUES)] as const));
}

function atom(random: Random, keys: readonly string[]): string {
  const [key, value] = [pick(random, keys), pick(random, VALUES)];
  const quote = pick(random, [`'`, `"`]);
  const text = `${quote}${value}${quote}`;
  return pick(random, [
    `${key} == ${text}`,
    `${key} == ${text}`,
    `${key} != ${text}`,
    `${key} in {${text}, 'host'}`,
    `${key} not in { ${text},'b' }`,
    `${key} notin {${text}}`,
    `has(${key})`,
    `! has(${key})`,
    `${key} contains ${text}`,
    `${key} starts with ${text}`,
    `${key} ends with${text}`,
    'all()',
    'all( )',
    `!all()`,
    `${key} == 'all()'`,
  ]);
}

const OF_HOSTS = [...KEYS, 'projectcalico.org/created-by', 'pcns.team', 'projectcalico.org/namespace'];

function selector(random: Random, keys: readonly string[] = OF_HOSTS, depth = 0): string {
  const shape = depth > 2 ? 0 : random();
  if (shape < 0.5) return atom(random, keys);
  const [one, other] = [selector(random, keys, depth + 1), selector(random, keys, depth + 1)];
  if (shape < 0.65) return `${one} && ${other}`;
  if (shape < 0.8) return `${one} || ${other}`;
  return shape < 0.9 ? `(${one} || ${other})` : `!(${one})`;
}

function entity(random: Random): object {
  return {
    ...(chance(random, 0.4) ? { selector: selector(random) } : {}),
    ...(chance(random, 0.15) ? { notSelector: selector(random) } : {}),
    ...(chance(random, 0.2) ? { namespaceSelector: pick(random, ['global()', 'all()', selector(random, OF_SPACES)]) } : {}),
    ...(chance(random, 0.1)
      ? { serviceAccounts: chance(random, 0.5) ? { names: ['x', 'y'] } : { selector: selector(random, OF_SPACES) } }
      : {}),
    ...(chance(random, 0.1) ? { nets: ['203.0.113.0/24'] } : {}),
    ...(chance(random, 0.15) ? { ports: pick(random, [['http'], ['http', 'ssh'], ['none']]) } : {}),
    ...(chance(random, 0.05) ? { notPorts: ['http'] } : {}),
  };
}

function rule(random: Random): object {
  return {
    action: pick(random, ['Allow', 'Allow', 'Deny', 'Pass', 'Log']),
    ...(chance(random, 0.4) ? { protocol: pick(random, ['TCP', 'UDP', 6]) } : {}),
    ...(chance(random, 0.7) ? { source: entity(random) } : {}),
    ...(chance(random, 0.3) ? { destination: entity(random) } : {}),
  };
}

function object(kind: string, name: string, spec: object, own: Labels = {}): KubeObject {
  return { apiVersion: 'crd.projectcalico.org/v1', kind, metadata: { name, labels: own }, spec };
}

function policy(random: Random, world: string, index: number): KubeObject {
  const preDNAT = chance(random, 0.08);
  const doNotTrack = !preDNAT && chance(random, 0.05);
  const types = preDNAT ? ['Ingress'] : pick(random, TYPES);
  return object('GlobalNetworkPolicy', `${world}${pick(random, ['p', 'p-', 'p.', 'q'])}${index}`, {
    ...(chance(random, 0.8) ? { selector: selector(random) } : {}),
    ...(chance(random, 0.25) ? { namespaceSelector: chance(random, 0.2) ? 'all()' : selector(random, OF_SPACES) } : {}),
    ...(chance(random, 0.1) ? { serviceAccountSelector: selector(random, OF_SPACES) } : {}),
    ...(chance(random, 0.6) ? { order: pick(random, [1, 2, 2, 2.5, -1, 1000]) } : {}),
    ...(chance(random, 0.4) ? { tier: pick(random, ['sec', 'late', 'absent', 'default']) } : {}),
    ...(types ? { types } : {}),
    ingress: some(random, 2, () => rule(random)),
    ...(preDNAT ? {} : { egress: some(random, 2, () => rule(random)) }),
    ...(preDNAT ? { preDNAT } : {}),
    ...(doNotTrack ? { doNotTrack } : {}),
    ...(preDNAT || doNotTrack || chance(random, 0.25) ? { applyOnForward: true } : {}),
  });
}

/** Labels that only pods have, those of their namespaces and service accounts included. */
const OF_PODS = [...KEYS, 'pcns.team', 'pcsa.projectcalico.org/name', 'projectcalico.org/serviceaccount', 'projectcalico.org/orchestrator'];

function networkPolicy(random: Random, world: string, index: number): KubeObject {
  const namespace = pick(random, Object.keys(NAMESPACES));
  const types = pick(random, TYPES);
  const made = object('NetworkPolicy', `${world}n${index}`, {
    ...(chance(random, 0.8) ? { selector: selector(random, OF_PODS) } : {}),
    ...(chance(random, 0.1) ? { serviceAccountSelector: selector(random, ['team', 'projectcalico.org/name']) } : {}),
    ...(types ? { types } : {}),
    ingress: some(random, 2, () => rule(random)),
    egress: some(random, 2, () => rule(random)),
  });
  return { ...made, metadata: { ...made.metadata, namespace } };
}

/** Hosts and policies as objects of the service's v1 group. `world` is in the names of all that can be named: what was seen of it is no other's. */
export function randomFleet(random: Random, world: string) {
  const nodes = NODES.map((name, index) => ({
    name,
    labels: labels(random),
    addresses: [`10.9.0.${index + 1}`, ...(chance(random, 0.3) ? [`fd09::${index + 1}`] : [])],
  }));
  const endpoints = nodes.flatMap(({ name }, index) =>
    some(random, 2, (at) => {
      const everywhere = chance(random, 0.85);
      const addresses = [`10.9.0.${index + 1}`, `10.9.1.${index + 1}`, '10.9.2.1', `fd09:0::${index + 1}`];
      const expectedIPs = [...new Set(some(random, 2, () => pick(random, addresses)))];
      const given: Labels = chance(random, 0.06) ? { 'projectcalico.org/created-by': 'calico-kube-controllers' } : {};
      const endpoint = `${pick(random, ['a', 'z'])}-${world}-${name}-${at}`;
      const spec = {
        node: name,
        ...(everywhere ? { interfaceName: '*' } : chance(random, 0.5) ? { interfaceName: `eth${at}` } : {}),
        ...(expectedIPs.length > 0 || !everywhere ? { expectedIPs: expectedIPs.length > 0 ? expectedIPs : [`10.9.3.${index + 1}`] } : {}),
        profiles: pick(random, PROFILES),
        ports: pick(random, PORTS),
      };
      return object('HostEndpoint', endpoint, spec, { ...labels(random), ...given });
    }),
  );
  const tiers = [
    object('Tier', 'default', { order: 1_000_000 }),
    object('Tier', 'sec', { ...(chance(random, 0.7) ? { order: 10 } : {}), ...(chance(random, 0.4) ? { defaultAction: 'Pass' } : {}) }),
    ...(chance(random, 0.5) ? [object('Tier', 'late', { order: 2_000_000, defaultAction: 'Deny' })] : []),
  ];
  const policies = some(random, 9, (index) => policy(random, world, index));
  const networkPolicies = some(random, 4, (index) => networkPolicy(random, world, index));
  return { nodes, endpoints, policies, networkPolicies, tiers };
}
