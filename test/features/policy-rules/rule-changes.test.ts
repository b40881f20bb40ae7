import assert from 'node:assert/strict';
import { fleetVerdicts } from '../../../src/features/policy-rules/host-endpoint-verdicts.ts';
import { sideChangeText } from '../../../src/features/policy-rules/rule-sides.ts';
import { laneText } from '../../../src/features/policy-rules/verdict.ts';
import { ALLOW_ALL, type Fleet, fleetOf, hep, object, policy, SIGNS } from './fleet.ts';

const ALLOW = { profiles: [ALLOW_ALL] };
const AUTOMATIC = { [SIGNS.createdBy]: SIGNS.createdByValue };

/** Two hosts, of which one may talk to the other by its role; the old endpoint of node-1 is the only one with an address. */
const ADDRESSES = { 'node-1': ['10.0.0.1'], 'node-2': ['10.0.0.2'] };
const old = (more: object = {}) => [
  hep('a-1', 'node-1', { role: 'app' }, { expectedIPs: ['192.0.2.10'], ...ALLOW, ...more }),
  hep('a-2', 'node-2', { role: 'db' }, ALLOW),
];
const from = (source: object, more: object = {}) =>
  policy('db', "role == 'db'", { types: ['Ingress'], egress: [], ingress: [{ action: 'Allow', source }], ...more });

const world = (source: object, more: Partial<Fleet> = {}): Fleet => ({
  nodes: { 'node-1': {}, 'node-2': {} },
  endpoints: old(),
  addresses: ADDRESSES,
  policies: [from(source)],
  ...more,
});

function said(fleet: Fleet) {
  const { hosts, policies } = fleetVerdicts(fleetOf(fleet));
  return {
    hosts: Object.fromEntries(
      hosts.map(({ node, atEnable, atDelete }) => [
        node,
        [atEnable, atDelete].map(({ verdict, changes }) =>
          verdict === 'same' ? verdict : `${verdict} ${changes.map(({ lane, after }) => `${lane}: ${laneText(after)}`).join('; ')}`,
        ),
      ]),
    ),
    policies: policies.map(({ atEnable, atDelete }) =>
      [atEnable, atDelete].flatMap((moment) => moment.map((one) => sideChangeText(one, 9))),
    ),
  };
}

const CHANGED = [
  "CHANGED ingress: policy db, else deny (addresses change: db, source role == 'app': 10.0.0.1 comes)",
  "CHANGED ingress: policy db, else deny (addresses change: db, source role == 'app': 192.0.2.10 goes; 10.0.0.1 comes)",
];

describe('addresses of host endpoints in rules', () => {
  it('change what the same policies let through: the expected address goes, that of the automatic endpoint comes', () => {
    const { hosts } = said(world({ selector: "role == 'app'" }));
    assert.deepEqual(hosts, { 'node-1': ['same', 'same'], 'node-2': CHANGED });
  });

  it('stay the same where the automatic endpoint has the same', () => {
    const { hosts, policies } = said(world({ selector: "role == 'app'" }, { addresses: { 'node-1': ['192.0.2.10'] } }));
    assert.deepEqual([hosts, policies], [{ 'node-1': ['same', 'same'], 'node-2': ['same', 'same'] }, []]);
  });

  const CASES: Readonly<Record<string, readonly [fleet: Fleet, node2: readonly string[]]>> = {
    notSelector: [
      world({ notSelector: "role == 'app'" }),
      CHANGED.map((text) => text.replace("source role == 'app'", "source notSelector role == 'app'")),
    ],
    'a selector with notSelector is one set': [world({ selector: "role == 'app'", notSelector: "role == 'app'" }), ['same', 'same']],
    'a selector beside ports that are left out by name': [world({ selector: "role == 'app'", notPorts: ['http'] }), CHANGED],
    'a selector beside ports by name, though no host may have the port': [world({ selector: "role == 'app'", ports: ['http'] }), CHANGED],
    'all() and global() where both the old endpoint and its successor have the address': [
      world(
        { selector: 'all() && global()' },
        {
          endpoints: [...old().slice(0, 1), hep('a-2', 'node-2', { role: 'db' }, { expectedIPs: ['10.0.0.2'], ...ALLOW })],
          addresses: { 'node-1': ['192.0.2.10'], 'node-2': ['10.0.0.2'] },
        },
      ),
      ['same', 'same'],
    ],
    'all(), which selects the automatic endpoint too': [
      world({ selector: 'all()' }),
      CHANGED.map((text) => text.replace("role == 'app'", 'all()').replace('10.0.0.1 comes', '10.0.0.1, 10.0.0.2 come')),
    ],
    'a host of which nobody knows the addresses yet': [
      world({ selector: "role == 'app'" }, { addresses: {} }),
      CHANGED.map((text) => text.replace('10.0.0.1 comes', 'an address of node-1 comes')),
    ],
    'a host outside the cluster, whose endpoint the controllers take for theirs and delete': [
      world(
        { selector: "role == 'gone'" },
        { endpoints: [...old(), hep('x', 'elsewhere', { ...AUTOMATIC, role: 'gone' }, { expectedIPs: ['192.0.2.99'] })] },
      ),
      [CHANGED[0], CHANGED[0]].map((text = '') =>
        text.replace("role == 'app'", "role == 'gone'").replace('10.0.0.1 comes', '192.0.2.99 goes'),
      ),
    ],
    'a host that gets its first endpoint': [
      world(
        { selector: "role == 'new'" },
        { nodes: { 'node-1': {}, 'node-2': {}, 'node-3': { role: 'new' } }, addresses: { 'node-3': ['10.0.0.3'] } },
      ),
      [CHANGED[0], CHANGED[0]].map((text = '') => text.replace("role == 'app'", "role == 'new'").replace('10.0.0.1', '10.0.0.3')),
    ],
    'what is in no namespace': [
      world({ namespaceSelector: 'global()', selector: "role == 'app'" }),
      CHANGED.map((text) => text.replace("role == 'app'", "role == 'app', namespaceSelector global()")),
    ],
    'what is in a namespace is no host': [world({ namespaceSelector: 'all()', selector: "role == 'app'" }), ['same', 'same']],
    'a namespace that lacks a label: hosts lack it too': [
      world({ namespaceSelector: '!has(team)', selector: "role == 'app'" }),
      CHANGED.map((text) => text.replace("role == 'app'", "role == 'app', namespaceSelector !has(team)")),
    ],
    'service accounts are of no host': [world({ serviceAccounts: { names: ['x'] } }), ['same', 'same']],
    'a rule that only logs, as every rule counts': [
      world({}, { policies: [from({}, { ingress: [{ action: 'Log', source: { selector: "role == 'app'" } }] })] }),
      CHANGED,
    ],
    'a rule of the other direction': [
      world(
        {},
        { policies: [from({}, { types: ['Ingress'], egress: [{ action: 'Allow', destination: { selector: "role == 'app'" } }] })] },
      ),
      ['same', 'same'],
    ],
    'an address that an endpoint of a single interface of the node has as well stays': [
      world(
        { selector: "role == 'app'" },
        {
          endpoints: [...old(), hep('eth', 'node-1', { role: 'app' }, { interfaceName: 'eth0', expectedIPs: ['192.0.2.10', '10.0.0.1'] })],
        },
      ),
      ['same', 'same'],
    ],
    'what an automatic endpoint that stands has already does not come': [
      world(
        { selector: "role == 'app'" },
        {
          nodes: { 'node-1': { role: 'app' }, 'node-2': {} },
          endpoints: [
            ...old({ expectedIPs: [] }),
            hep('node-1-auto-hep', 'node-1', { ...AUTOMATIC, role: 'app' }, { expectedIPs: ['10.0.0.1'] }),
          ],
        },
      ),
      ['same', 'same'],
    ],
    'one address written in two ways is one': [
      world({ selector: "role == 'app'" }, { endpoints: old({ expectedIPs: ['fd00:0::1'] }), addresses: { 'node-1': ['fd00::1'] } }),
      ['same', 'same'],
    ],
  };
  for (const [title, [fleet, node2]] of Object.entries(CASES)) {
    it(`of ${title}`, () => {
      assert.deepEqual(said(fleet).hosts['node-2'], node2);
    });
  }

  it('come where a label conflicts: whom the node’s own value selects is let in, whom the old one selected goes', () => {
    const fleet = world({ selector: "role == 'app'" }, { nodes: { 'node-1': { role: 'core' }, 'node-2': {}, 'node-3': { role: 'app' } } });
    const { hosts } = said({ ...fleet, addresses: { ...ADDRESSES, 'node-3': ['10.0.0.3'] } });
    const [, atDelete = ''] = hosts['node-2'] ?? [];
    assert.match(atDelete, /role == 'app': 192\.0\.2\.10 goes; 10\.0\.0\.3 comes/);
  });

  it('are named of policies of namespaces and of global ones that select no host', () => {
    const ingress = [{ action: 'Allow', source: { namespaceSelector: 'global()', selector: "role == 'app'" } }];
    const networkPolicy = object('NetworkPolicy', 'api', { selector: 'all()', types: ['Ingress'], ingress });
    const inShop = { ...networkPolicy, metadata: { ...networkPolicy.metadata, namespace: 'shop' } };
    const own = { action: 'Allow', source: { selector: "role == 'app'" } };
    const inNamespace = { ...inShop, metadata: { ...inShop.metadata, name: 'own' }, spec: { selector: 'all()', ingress: [own] } };
    const { hosts, policies } = said({
      ...world({ selector: "role == 'app'" }),
      policies: [from({ selector: "role == 'app'" }, { selector: "app == 'pods'" })],
      networkPolicies: [inShop, inNamespace],
    });
    assert.deepEqual(hosts['node-1'], ['same', 'same']);
    const changes = (who: string) => [`${who}: 10.0.0.1 comes`, `${who}: 192.0.2.10 goes; 10.0.0.1 comes`];
    assert.deepEqual(policies, [
      changes("db, source role == 'app'"),
      changes("shop/api, source role == 'app', namespaceSelector global()"),
    ]);
  });

  it('of endpoints with a port that rules name', () => {
    const http = { ports: [{ name: 'http', protocol: 'TCP', port: 8080 }] };
    const networkPolicy = object('NetworkPolicy', 'out', {
      selector: 'all()',
      types: ['Egress'],
      egress: [{ action: 'Allow', protocol: 'TCP', destination: { ports: ['http', 443] } }],
    });
    const { policies } = said({
      ...world({}),
      endpoints: old(http),
      networkPolicies: [{ ...networkPolicy, metadata: { ...networkPolicy.metadata, namespace: 'shop' } }],
    });
    assert.deepEqual(policies.at(-1), ['shop/out, destination port http: a-1 goes']);
  });

  it('of rules of a profile that decides before and after', () => {
    const profiles = { team: { ingress: [{ action: 'Allow', source: { selector: "role == 'app'" } }] } };
    const { hosts } = said({
      nodes: { 'node-1': {}, 'node-2': {} },
      endpoints: [...old().slice(0, 1), hep('node-2-auto', 'node-2', {}, { profiles: ['team'] })],
      addresses: ADDRESSES,
      profiles,
    });
    assert.match(hosts['node-2']?.[0] ?? '', /ingress: rules of team \(addresses change: team, source role == 'app': 10\.0\.0\.1 comes\)/);
  });

  it('are no change where the policy comes to the host with the migration: it is a new one', () => {
    const { hosts } = said(
      world(
        {},
        { nodes: { 'node-1': {}, 'node-2': { tier: 'x' } }, policies: [from({ selector: "role == 'app'" }, { selector: "tier == 'x'" })] },
      ),
    );
    assert.deepEqual(hosts['node-2'], ['same', 'NEWLY POLICED ingress: policy db, else deny']);
  });

  it('names a hundred at most of one set', () => {
    const many = Array.from({ length: 150 }, (_, index) => `10.1.0.${index}`);
    const { hosts } = said(world({ selector: "role == 'app'" }, { endpoints: old({ expectedIPs: many }), addresses: {} }));
    assert.match(hosts['node-2']?.[1] ?? '', /10\.1\.0\.99 and 50 more go; an address of node-1 comes\)$/);
  });

  it('refuses a selector in a rule that is none, and says where it stands', () => {
    assert.throws(
      () => fleetOf(world({ selector: 'role = x' })),
      /GlobalNetworkPolicy\/db: spec\.ingress\[0\]\.source\.selector is no selector/,
    );
  });
});
