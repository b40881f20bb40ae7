import assert from 'node:assert/strict';
import { failsafePorts } from '../../../src/features/policy-rules/host-endpoint.ts';
import { endpointsWithoutNode, fleetVerdicts, type NodeVerdict } from '../../../src/features/policy-rules/host-endpoint-verdicts.ts';
import { laneText } from '../../../src/features/policy-rules/verdict.ts';
import { ALLOW_ALL, DENY, type Fleet, fleetOf, hep, object, policy, SIGNS } from './fleet.ts';

const AUTOMATIC = { [SIGNS.createdBy]: SIGNS.createdByValue };
const ALLOW = { profiles: [ALLOW_ALL] };

function only(fleet: Fleet): NodeVerdict {
  const [verdict, ...more] = fleetVerdicts(fleetOf(fleet)).hosts;
  assert.ok(verdict && more.length === 0);
  return verdict;
}

interface Row {
  readonly it: string;
  readonly fleet: Fleet;
  readonly enable: string;
  readonly delete: string;
  readonly endpoints?: readonly [atEnable: string | undefined, atDelete: string | undefined];
}

const ROWS: readonly Row[] = [
  {
    it: 'a node without any endpoint and without a policy stays as it is',
    fleet: { nodes: { n1: {} } },
    enable: 'same',
    delete: 'same',
    endpoints: ['n1-auto-hep', 'n1-auto-hep'],
  },
  {
    it: 'a node without any endpoint is newly policed where a policy selects its labels',
    fleet: { nodes: { n1: { env: 'prod' } }, policies: [policy('p', 'env == "prod"')] },
    enable: 'NEWLY POLICED',
    delete: 'NEWLY POLICED',
  },
  {
    it: 'a node without any endpoint is newly policed where a policy selects a label that only the service’s own node has',
    fleet: { nodes: { n1: {} }, ownLabels: { n1: { rack: 'a' } }, policies: [policy('p', 'rack == "a"')] },
    enable: 'NEWLY POLICED',
    delete: 'NEWLY POLICED',
  },
  {
    it: 'a label of the Kubernetes node wins over that of the service’s own node',
    fleet: { nodes: { n1: { rack: 'b' } }, ownLabels: { n1: { rack: 'a' } }, policies: [policy('p', 'rack == "a"')] },
    enable: 'same',
    delete: 'same',
  },
  {
    it: 'an old endpoint that sorts behind the automatic one is judged at once by a label that only the service’s own node has',
    fleet: {
      nodes: { n1: {} },
      ownLabels: { n1: { rack: 'a' } },
      endpoints: [hep('z-old', 'n1', { role: 'host' })],
      policies: [policy('hosts', 'role == "host"'), policy('p', 'rack == "a"')],
    },
    enable: 'CHANGED',
    delete: 'CHANGED',
  },
  {
    it: 'a label of the service’s own node stays on the automatic endpoint and keeps the policy of the old one',
    fleet: {
      nodes: { n1: {} },
      ownLabels: { n1: { role: 'host' } },
      endpoints: [hep('a-old', 'n1', { role: 'host' })],
      policies: [policy('hosts', 'role == "host"')],
    },
    enable: 'same',
    delete: 'same',
  },
  {
    it: 'all() selects automatic endpoints too',
    fleet: { nodes: { n1: {} }, policies: [policy('p', 'all()')] },
    enable: 'NEWLY POLICED',
    delete: 'NEWLY POLICED',
  },
  {
    it: 'an old endpoint without a profile and without a policy denied: opened when it is deleted',
    fleet: { nodes: { n1: {} }, endpoints: [hep('a-old', 'n1')] },
    enable: 'same',
    delete: 'OPEN',
    endpoints: ['a-old', 'n1-auto-hep'],
  },
  {
    it: 'an old endpoint that sorts behind the automatic one loses at once',
    fleet: { nodes: { n1: {} }, endpoints: [hep('z-old', 'n1')] },
    enable: 'OPEN',
    delete: 'OPEN',
    endpoints: ['n1-auto-hep', 'n1-auto-hep'],
  },
  {
    it: 'an old endpoint with the allow-all profile and nothing else changes nothing',
    fleet: { nodes: { n1: {} }, endpoints: [hep('a-old', 'n1', {}, ALLOW)] },
    enable: 'same',
    delete: 'same',
  },
  {
    it: 'a policy follows the label that is copied to the node',
    fleet: { nodes: { n1: {} }, endpoints: [hep('z-old', 'n1', { role: 'edge' })], policies: [policy('p', 'role == "edge"')] },
    enable: 'same',
    delete: 'same',
  },
  {
    it: 'a policy on a label that is not copied is lost: open',
    fleet: {
      nodes: { n1: {} },
      endpoints: [hep('a-old', 'n1', { 'kubernetes.io/zone': 'x' })],
      policies: [policy('p', 'kubernetes.io/zone == "x"')],
    },
    enable: 'same',
    delete: 'OPEN',
  },
  {
    it: 'a policy on a label in conflict with the node is lost: open',
    fleet: {
      nodes: { n1: { role: 'core' } },
      endpoints: [hep('a-old', 'n1', { role: 'edge' })],
      policies: [policy('p', 'role == "edge"')],
    },
    enable: 'same',
    delete: 'OPEN',
  },
  {
    it: 'the label that a policy selects by is copied: the same (docs/reference/host-endpoints.md)',
    fleet: { nodes: { n1: { zone: 'a' } }, endpoints: [hep('a-old', 'n1', { role: 'host' })], policies: [policy('A', 'role == "host"')] },
    enable: 'same',
    delete: 'same',
  },
  {
    it: 'a policy drops out by a label of which the node has another value: changed (docs/reference/host-endpoints.md)',
    fleet: {
      nodes: { n1: { zone: 'a' } },
      endpoints: [hep('a-old', 'n1', { role: 'host', zone: 'dmz' })],
      policies: [policy('A', 'role == "host"'), policy('B', 'zone == "dmz"')],
    },
    enable: 'same',
    delete: 'CHANGED',
  },
  {
    it: 'a policy comes by a label that only the node has: changed (docs/reference/host-endpoints.md)',
    fleet: {
      nodes: { n1: { zone: 'a' } },
      endpoints: [hep('a-old', 'n1', { role: 'host' })],
      policies: [policy('A', 'role == "host"'), policy('C', 'zone == "a"')],
    },
    enable: 'same',
    delete: 'CHANGED',
  },
  {
    it: 'other policies than before: changed',
    fleet: {
      nodes: { n1: { env: 'prod' } },
      endpoints: [hep('a-old', 'n1', { role: 'edge' })],
      policies: [policy('p', 'role == "edge"'), policy('q', 'env == "prod"')],
    },
    enable: 'same',
    delete: 'CHANGED',
  },
  {
    it: 'a policy that excluded the created-by label no longer applies',
    fleet: { nodes: { n1: {} }, endpoints: [hep('a-old', 'n1')], policies: [policy('p', '!has(projectcalico.org/created-by)')] },
    enable: 'same',
    delete: 'OPEN',
  },
  {
    it: 'open in one direction is open',
    fleet: {
      nodes: { n1: { env: 'prod' } },
      endpoints: [hep('a-old', 'n1', { 'k8s.io/x': '1' })],
      policies: [policy('in', 'all()', { types: ['Ingress'] }), policy('out', 'has(k8s.io/x)', { types: ['Egress'] })],
    },
    enable: 'same',
    delete: 'OPEN',
  },
  {
    it: 'an endpoint on a named interface is no endpoint of the host as a whole',
    fleet: { nodes: { n1: {} }, endpoints: [hep('eth', 'n1', {}, { interfaceName: 'eth0' })] },
    enable: 'same',
    delete: 'same',
  },
  {
    it: 'an endpoint by address only is no endpoint of the host as a whole',
    fleet: { nodes: { n1: {} }, endpoints: [hep('ip', 'n1', {}, { interfaceName: undefined, expectedIPs: ['10.0.0.1'] })] },
    enable: 'same',
    delete: 'same',
  },
  {
    it: 'of two old endpoints the first by name counts until both are gone',
    fleet: {
      nodes: { n1: {} },
      endpoints: [hep('b-old', 'n1', {}, ALLOW), hep('a-old', 'n1')],
    },
    enable: 'same',
    delete: 'OPEN',
    endpoints: ['a-old', 'n1-auto-hep'],
  },
  {
    it: 'a half migrated node keeps its automatic endpoint',
    fleet: {
      nodes: { n1: { env: 'prod' } },
      endpoints: [hep('n1-auto-hep', 'n1', { ...AUTOMATIC, env: 'prod' }, ALLOW), hep('z-old', 'n1', {}, ALLOW)],
    },
    enable: 'same',
    delete: 'same',
  },
  {
    it: 'labels that only the service’s own node has show on the automatic endpoint that stands: they count',
    fleet: {
      nodes: { n1: {} },
      endpoints: [hep('n1-auto-hep', 'n1', { ...AUTOMATIC, rack: 'a' }, ALLOW), hep('a-old', 'n1', {}, ALLOW)],
      policies: [policy('p', 'rack == "a"')],
    },
    enable: 'same',
    delete: 'NEWLY POLICED',
  },
  {
    it: 'a node whose automatic name is taken by a hand-made endpoint gets none',
    fleet: { nodes: { n1: {} }, endpoints: [hep('n1-auto-hep', 'n1')] },
    enable: 'same',
    delete: 'same',
    endpoints: ['n1-auto-hep', 'n1-auto-hep'],
  },
  {
    it: 'a hand-made endpoint with the controllers’ label is deleted by them as soon as they start again: open',
    fleet: {
      nodes: { n1: {} },
      endpoints: [hep('a-mine', 'n1', { ...AUTOMATIC, role: 'edge' })],
      policies: [policy('p', 'role == "edge"')],
    },
    enable: 'OPEN',
    delete: 'OPEN',
    endpoints: ['n1-auto-hep', 'n1-auto-hep'],
  },
  {
    it: 'a hand-made endpoint with the controllers’ label does not stand before an old one that stays until it is deleted',
    fleet: {
      nodes: { n1: {} },
      endpoints: [hep('a-mine', 'n1', AUTOMATIC, ALLOW), hep('b-old', 'n1')],
    },
    enable: 'NEWLY POLICED',
    delete: 'same',
    endpoints: ['b-old', 'n1-auto-hep'],
  },
  {
    it: 'an endpoint with the controllers’ label and the name of another node’s is deleted as well',
    fleet: { nodes: { n1: {} }, endpoints: [hep('a-auto-hep', 'n1', AUTOMATIC)] },
    enable: 'OPEN',
    delete: 'OPEN',
    endpoints: ['n1-auto-hep', 'n1-auto-hep'],
  },
  {
    it: 'a hand-made endpoint with another’s automatic name is nobody’s and stays',
    fleet: { nodes: { n1: {} }, endpoints: [hep('a-auto-hep', 'n1')] },
    enable: 'same',
    delete: 'same',
    endpoints: ['a-auto-hep', 'a-auto-hep'],
  },
  {
    it: 'no default endpoint and no template leaves the host without any',
    fleet: { nodes: { n1: {} }, endpoints: [hep('a-old', 'n1')], hostEndpoint: { createDefaultHostEndpoint: 'Disabled' } },
    enable: 'same',
    delete: 'OPEN',
    endpoints: ['a-old', undefined],
  },
  {
    it: 'an automatic endpoint that is in force already is compared with the old one behind it: its host is open since it was enabled',
    fleet: {
      nodes: { n1: {} },
      endpoints: [hep('z-old', 'n1'), hep('n1-auto-hep', 'n1', AUTOMATIC, { expectedIPs: ['10.0.0.1'], ...ALLOW })],
    },
    enable: 'OPEN',
    delete: 'OPEN',
  },
  {
    it: 'an automatic endpoint alone is compared with itself',
    fleet: { nodes: { n1: {} }, endpoints: [hep('n1-auto-hep', 'n1', AUTOMATIC, { expectedIPs: ['10.0.0.1'], ...ALLOW })] },
    enable: 'same',
    delete: 'same',
  },
  {
    it: 'untracked policies do not act on all interfaces, but in eBPF mode',
    fleet: { nodes: { n1: {} }, policies: [policy('raw', 'all()', { doNotTrack: true, applyOnForward: true })] },
    enable: 'same',
    delete: 'same',
  },
  {
    it: 'untracked policies act on all interfaces in eBPF mode',
    fleet: {
      nodes: { n1: {} },
      untracked: true,
      policies: [policy('raw', 'all()', { doNotTrack: true, applyOnForward: true })],
    },
    enable: 'NEWLY POLICED',
    delete: 'NEWLY POLICED',
  },
  {
    it: 'untracked policies are about ingress alone on all interfaces',
    fleet: {
      nodes: { n1: {} },
      untracked: true,
      policies: [policy('raw', 'all()', { doNotTrack: true, applyOnForward: true, types: ['Egress'] })],
    },
    enable: 'same',
    delete: 'same',
  },
  {
    it: 'policies before address translation are a lane of their own',
    fleet: { nodes: { n1: {} }, policies: [policy('pre', 'all()', { preDNAT: true, applyOnForward: true, types: ['Ingress'] })] },
    enable: 'NEWLY POLICED',
    delete: 'NEWLY POLICED',
  },
  {
    it: 'a policy before address translation is about traffic that comes: one of egress alone does nothing',
    fleet: { nodes: { n1: {} }, policies: [policy('pre', 'all()', { preDNAT: true, applyOnForward: true, types: ['Egress'] })] },
    enable: 'same',
    delete: 'same',
  },
  {
    it: 'a policy with a namespace selector reaches no host',
    fleet: { nodes: { n1: {} }, policies: [policy('ns', 'all()', { namespaceSelector: 'all()' })] },
    enable: 'same',
    delete: 'same',
  },
  {
    it: 'global() as a namespace selector reaches hosts like everything else',
    fleet: { nodes: { n1: { role: 'x' } }, policies: [policy('ns', 'has(role)', { namespaceSelector: 'global()' })] },
    enable: 'NEWLY POLICED',
    delete: 'NEWLY POLICED',
  },
  ...[
    "projectcalico.org/name not in {'kube-system'}",
    "projectcalico.org/name != 'kube-system'",
    '!has(team)',
    'global()',
    "team == 'a' || !has(team)",
  ].flatMap((spaces): readonly Row[] => [
    {
      it: `all() beside the namespace selector ${spaces} means what is in a namespace: a host that was denied opens`,
      fleet: {
        nodes: { n1: {} },
        endpoints: [hep('a-old', 'n1')],
        policies: [policy('ns', 'all()', { namespaceSelector: spaces })],
      },
      enable: 'same',
      delete: 'OPEN',
    },
    {
      it: `all() beside the service account selector ${spaces} means what has a service account: a host that was denied opens`,
      fleet: {
        nodes: { n1: {} },
        endpoints: [hep('a-old', 'n1')],
        policies: [policy('sa', "all() || role == 'x'", { serviceAccountSelector: spaces })],
      },
      enable: 'same',
      delete: 'OPEN',
    },
  ]),
  {
    it: 'a namespace selector that is true of absent labels selects hosts where the selector does without all()',
    fleet: {
      nodes: { n1: { role: 'x' } },
      policies: [policy('ns', "role == 'x'", { namespaceSelector: "projectcalico.org/name != 'kube-system'" })],
    },
    enable: 'NEWLY POLICED',
    delete: 'NEWLY POLICED',
  },
  {
    it: 'all() is what the service puts another selector for, not `all( )`',
    fleet: { nodes: { n1: {} }, policies: [policy('ns', 'all( )', { namespaceSelector: '!has(team)' })] },
    enable: 'NEWLY POLICED',
    delete: 'NEWLY POLICED',
  },
  {
    it: 'an empty selector beside one of namespaces is no all()',
    fleet: { nodes: { n1: {} }, policies: [policy('ns', '', { namespaceSelector: '!has(team)' })] },
    enable: 'NEWLY POLICED',
    delete: 'NEWLY POLICED',
  },
  {
    it: 'a policy without types is about both ways, whatever rules it has',
    fleet: { nodes: { n1: {} }, endpoints: [hep('a-old', 'n1')], policies: [policy('p', 'all()', { types: [], egress: [] })] },
    enable: 'same',
    delete: 'same',
  },
  {
    it: 'of two profiles that give a label the first counts',
    fleet: {
      nodes: { n1: {} },
      endpoints: [hep('a-old', 'n1', {}, { profiles: ['one', 'two'] })],
      profiles: { one: { labels: { team: 'x' } }, two: { labels: { team: 'y' } } },
      policies: [policy('p', 'team == "x" || has(projectcalico.org/created-by)')],
    },
    enable: 'same',
    delete: 'same',
  },
  {
    it: 'labels that a profile gives are labels of the endpoint',
    fleet: {
      nodes: { n1: {} },
      endpoints: [hep('a-old', 'n1', {}, { profiles: ['team'] })],
      profiles: { team: { labels: { team: 'x' } } },
      policies: [policy('p', 'team == "x"')],
    },
    enable: 'same',
    delete: 'OPEN',
  },
  {
    it: 'a profile of its own that lets everything through is as open as the allow-all profile',
    fleet: {
      nodes: { n1: {} },
      endpoints: [hep('a-old', 'n1', {}, { profiles: ['open'] })],
      profiles: { open: { ingress: [{ action: 'Allow' }], egress: [{ action: 'Allow', source: {}, destination: {} }] } },
    },
    enable: 'same',
    delete: 'same',
  },
  {
    it: 'a profile with rules of its own judged: open without it',
    fleet: {
      nodes: { n1: {} },
      endpoints: [hep('a-old', 'n1', {}, { profiles: ['ssh'] })],
      profiles: { ssh: { ingress: [{ action: 'Allow', protocol: 'TCP' }], egress: [{ action: 'Allow' }] } },
    },
    enable: 'same',
    delete: 'OPEN',
  },
  {
    it: 'a profile that does not exist drops everything, whatever profile comes after it: open without it',
    fleet: { nodes: { n1: {} }, endpoints: [hep('a-old', 'n1', {}, { profiles: ['kns.gone', ALLOW_ALL] })] },
    enable: 'same',
    delete: 'OPEN',
  },
  {
    it: 'a profile that does not exist does not count after one that allows everything',
    fleet: { nodes: { n1: {} }, endpoints: [hep('a-old', 'n1', {}, { profiles: [ALLOW_ALL, 'kns.gone'] })] },
    enable: 'same',
    delete: 'same',
  },
  {
    it: 'a policy that passes on leaves the rest to the profiles, which differ',
    fleet: {
      nodes: { n1: {} },
      endpoints: [hep('a-old', 'n1')],
      policies: [policy('p', 'all()', { ingress: [{ action: 'Pass' }], egress: DENY })],
    },
    enable: 'same',
    delete: 'CHANGED',
  },
];

const HTTP = { ports: [{ name: 'http', protocol: 'TCP', port: 80 }], ...ALLOW };
const named = (...ports: readonly (string | number)[]) => ({ destination: { ports } });
const role = { role: 'host' };
const onHosts = (name: string, spec: object) => policy(name, 'role == "host"', spec);
const ingressOnly = (rule: object) => ({ types: ['Ingress'], egress: [], ingress: [{ action: 'Allow', protocol: 'TCP', ...rule }] });
const egressOnly = (rule: object) => ({ types: ['Egress'], ingress: [], egress: [{ action: 'Allow', protocol: 'TCP', ...rule }] });

const LOST = '(addresses change: p, destination port http: a-old goes)';

/** What of the port `http` of the old endpoint of n1 becomes of n1 and n2, each policed by its role, once it is deleted. */
const PORTS: Readonly<Record<string, readonly [spec: object, changes: readonly string[]]>> = {
  'an Allow rule for traffic to the host': [ingressOnly(named(22, 'http')), [`ingress: policy p, else deny ${LOST}`]],
  'a Deny rule for traffic to the host': [
    { ...ingressOnly({}), ingress: [{ action: 'Deny', protocol: 'TCP', ...named('http') }, { action: 'Allow' }] },
    [`ingress: policy p, else deny ${LOST}`],
  ],
  'a rule for all ports but the named one': [
    ingressOnly({ destination: { notPorts: ['http'] } }),
    [`ingress: policy p, else deny ${LOST}`],
  ],
  'a rule for traffic from the host by its own port': [
    egressOnly({ source: { ports: ['http'] } }),
    [`egress: policy p, else deny ${LOST.replace('destination', 'source')}`],
  ],
  'a rule for traffic to other hosts': [egressOnly(named('http')), [`egress: policy p, else deny ${LOST}`]],
  'a rule for traffic through the host': [
    { ...ingressOnly(named('http')), applyOnForward: true },
    [`ingress: policy p, else deny ${LOST}`, `forward-ingress: policy p, else deny ${LOST}`],
  ],
  'a rule before addresses are translated': [
    { ...ingressOnly(named('http')), preDNAT: true, applyOnForward: true },
    [`pre-dnat: policy p, else allow ${LOST}`],
  ],
  'not a rule by numbers and ranges': [ingressOnly(named(80, '80', '80:90')), []],
  'not a rule by a name that no old endpoint has': [ingressOnly(named('https')), []],
  'not a policy that is not in force there': [{ ...ingressOnly(named('http')), selector: 'role == "other"' }, []],
  'not a rule of the other direction': [{ ...egressOnly({}), ingress: [{ action: 'Allow', ...named('http') }] }, []],
};

describe('port names that automatic endpoints do not have', () => {
  for (const [title, [spec, wanted]] of Object.entries(PORTS)) {
    it(`change ${title}, on each host that it polices`, () => {
      const verdicts = fleetVerdicts(
        fleetOf({
          nodes: { n1: {}, n2: {} },
          endpoints: [hep('a-old', 'n1', role, HTTP), hep('z-old', 'n2', role, ALLOW)],
          policies: [onHosts('p', spec)],
        }),
      ).hosts;
      assert.deepEqual(
        verdicts.map(({ atEnable }) => atEnable.verdict),
        ['same', 'same'],
      );
      assert.deepEqual(
        verdicts.map(({ atDelete: { changes } }) => changes.map(({ lane, after }) => `${lane}: ${laneText(after)}`)),
        [wanted, wanted],
      );
      const verdict = wanted.length > 0 ? 'CHANGED' : 'same';
      assert.deepEqual(
        verdicts.map(({ atDelete }) => atDelete.verdict),
        [verdict, verdict],
      );
    });
  }

  it('are lost only with the endpoint, also where the automatic one is in force at once', () => {
    const endpoints = [hep('z-old', 'n1', role, HTTP)];
    const verdict = only({ nodes: { n1: {} }, endpoints, policies: [onHosts('p', ingressOnly(named('http')))] });
    assert.deepEqual([verdict.atEnable.verdict, verdict.atDelete.verdict], ['same', 'CHANGED']);
  });

  for (const interfaceName of ['*', 'eth0']) {
    it(`are lost as soon as enabled with an endpoint of ${interfaceName} that the controllers take for their own`, () => {
      const endpoints = [hep('a-old', 'n1', role, ALLOW), hep('z-mine', 'n1', { ...role, ...AUTOMATIC }, { ...HTTP, interfaceName })];
      const { atEnable } = only({ nodes: { n1: {} }, endpoints, policies: [onHosts('p', ingressOnly(named('http')))] });
      assert.deepEqual(
        atEnable.changes.map(({ lane, after }) => `${lane}: ${laneText(after)}`),
        [`ingress: policy p, else deny ${LOST.replace('a-old', 'z-mine')}`],
      );
    });
  }

  it('are none of an endpoint that stays: of a host outside the cluster, of a named interface', () => {
    const endpoints = [
      hep('a', 'elsewhere', role, HTTP),
      hep('b', 'n1', role, { ...HTTP, interfaceName: 'eth0' }),
      hep('c', 'n1', role, ALLOW),
    ];
    const verdict = only({ nodes: { n1: {} }, endpoints, policies: [onHosts('p', egressOnly(named('http')))] });
    assert.equal(verdict.verdict, 'same');
  });

  it('are put together once for hosts with the same policies: of thousands with hundreds of policies it is one list', () => {
    const verdicts = fleetVerdicts(
      fleetOf({
        nodes: { n1: {}, n2: {} },
        endpoints: [hep('a', 'n1', role, HTTP), hep('b', 'n2', role, ALLOW)],
        policies: [onHosts('p', ingressOnly(named('http')))],
      }),
    ).hosts;
    const [n1, n2] = verdicts.map(({ atDelete }) => atDelete.changes[0]?.after.rules);
    assert.deepEqual(n1, [{ policy: 'p', shown: 'destination port http', comes: [], goes: ['a'] }]);
    assert.ok(n1 === n2);
  });

  it('are named for the first policies only, where a list names no more', () => {
    const policies = ['a', 'b', 'c', 'd'].map((name) => onHosts(name, ingressOnly(named('http'))));
    const [change] = only({ nodes: { n1: {} }, endpoints: [hep('a-old', 'n1', role, HTTP)], policies }).atDelete.changes;
    assert.ok(change);
    const lost = (name: string) => `${name}, destination port http: a-old goes`;
    assert.equal(
      laneText(change.after, 3),
      `policies a, b, c and 1 more, else deny (addresses change: ${lost('a')}, ${lost('b')}, ${lost('c')} and 1 more)`,
    );
  });
});

describe('verdicts on host endpoints', () => {
  for (const row of ROWS) {
    it(row.it, () => {
      const verdict = only(row.fleet);
      assert.deepEqual([verdict.atEnable.verdict, verdict.atDelete.verdict], [row.enable, row.delete]);
      if (row.endpoints) assert.deepEqual([verdict.atEnable.endpoint, verdict.atDelete.endpoint], row.endpoints);
    });
  }

  it('says what applied and what will apply, lane by lane', () => {
    const verdict = only({
      nodes: { n1: { env: 'prod' } },
      endpoints: [hep('a-old', 'n1', { role: 'edge' })],
      policies: [policy('second', 'role == "edge"', { order: 20 }), policy('first', 'role == "edge" || env == "prod"', { order: 10 })],
    });
    const [lane] = verdict.atDelete.changes;
    assert.equal(lane, undefined, 'the copied label keeps both policies');
    const changed = only({
      nodes: { n1: { env: 'prod' } },
      endpoints: [hep('a-old', 'n1', { 'k8s.io/role': 'edge' })],
      policies: [policy('second', 'k8s.io/role == "edge"', { order: 20 }), policy('first', 'all()', { order: 10 })],
    }).atDelete.changes.find((change) => change.lane === 'ingress');
    assert.ok(changed);
    assert.equal(laneText(changed.before), 'policies first, second, else deny');
    assert.equal(laneText(changed.after), 'policy first, else deny');
  });

  it('policies of an earlier tier come first, whatever their own order', () => {
    const verdict = only({
      nodes: { n1: {} },
      tiers: [object('Tier', 'security', { order: 10 }), object('Tier', 'default', { order: 1_000_000 })],
      policies: [policy('default.app', 'all()', { order: 1 }), policy('security.block', 'all()', { tier: 'security', order: 900 })],
    });
    assert.deepEqual(verdict.atEnable.changes.find(({ lane }) => lane === 'egress')?.after.policies, ['security.block', 'default.app']);
  });

  it('policies of one order are sorted as the agents do it: by name/namespace/kind', () => {
    const verdict = only({ nodes: { n1: {} }, policies: ['app', 'app-2', 'app.1', 'appx'].map((name) => policy(name, 'all()')) });
    assert.deepEqual(verdict.atEnable.changes[0]?.after.policies, ['app-2', 'app.1', 'app', 'appx']);
  });

  it('policies of a tier that is not there come last, those of one without an order where the tier default stands', () => {
    const verdict = only({
      nodes: { n1: {} },
      tiers: [object('Tier', 'zone', {}), object('Tier', 'after', { order: 2_000_000 }), object('Tier', 'default', { order: 1_000_000 })],
      policies: [
        policy('lost', 'all()', { tier: 'absent' }),
        policy('last', 'all()', { tier: 'after' }),
        policy('late', 'all()', { tier: 'zone' }),
        policy('app', 'all()'),
      ],
    });
    assert.deepEqual(verdict.atEnable.changes[0]?.after.policies, ['app', 'late', 'last', 'lost']);
  });

  it('names the old endpoints, the unclear ones, and what an automatic one cannot hold', () => {
    const verdict = only({
      nodes: { n1: {} },
      endpoints: [
        hep('old', 'n1', {}, { ports: [{ name: 'metrics', protocol: 'TCP', port: 9100 }] }),
        hep('made-by-hand', 'n1', AUTOMATIC),
        hep('x-auto-hep', 'n1'),
        hep('n1-auto-hep', 'n1', AUTOMATIC),
      ],
    });
    assert.deepEqual(
      verdict.old.map(({ name }) => name),
      ['old'],
    );
    assert.deepEqual(
      verdict.unclear.map(({ name }) => name),
      ['made-by-hand', 'x-auto-hep'],
    );
    assert.deepEqual(verdict.lostPorts, ['old']);
  });

  it('says why a node gets no automatic endpoint', () => {
    const nodes = { n1: {} };
    const disabled = { createDefaultHostEndpoint: 'Disabled' };
    assert.equal(only({ nodes, endpoints: [hep('n1-auto-hep', 'n1')] }).uncovered, 'name-taken');
    assert.equal(only({ nodes, endpoints: [hep('n1-auto-hep', 'gone')] }).uncovered, 'name-taken', 'names are the whole cluster’s');
    assert.equal(only({ nodes, hostEndpoint: disabled }).uncovered, 'no-default');
    assert.equal(only({ nodes, hostEndpoint: { ...disabled, templates: [{ generateName: 'x' }] } }).uncovered, 'templates-only');
    assert.equal(only({ nodes }).uncovered, undefined);
  });

  it('finds endpoints of nodes that are not there', () => {
    const fleet = fleetOf({ nodes: { n1: {} }, endpoints: [hep('a', 'n1'), hep('b', 'gone')] });
    assert.deepEqual(
      endpointsWithoutNode(fleet).map(({ name }) => name),
      ['b'],
    );
    assert.equal(fleetVerdicts(fleet).hosts.length, 1);
  });
});

const DEFAULTS = { inbound: ['tcp:22'], outbound: ['udp:53'] };
const SPEC = {
  failsafeInboundHostPorts: [
    { protocol: 'TCP', port: 2222 },
    { port: 80, net: '10.0.0.0/8' },
  ],
  failsafeOutboundHostPorts: [],
};

describe('failsafe ports', () => {
  it('are the defaults where nothing is set', () => assert.deepEqual(failsafePorts(undefined, {}, DEFAULTS), DEFAULTS));

  it('are those of the agents’ configuration, an empty list too', () => {
    assert.deepEqual(failsafePorts(SPEC, {}, DEFAULTS), { inbound: ['tcp:2222', 'tcp:10.0.0.0/8:80'], outbound: [] });
  });

  it('are those of the agents’ variables before all', () => {
    assert.deepEqual(failsafePorts(SPEC, { inbound: 'tcp:1, udp:2', outbound: 'none' }, DEFAULTS), {
      inbound: ['tcp:1', 'udp:2'],
      outbound: [],
    });
  });

  it('are unknown where a product names no defaults', () => assert.equal(failsafePorts({}, {}, undefined), undefined));
});
