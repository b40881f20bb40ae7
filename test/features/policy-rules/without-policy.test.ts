import assert from 'node:assert/strict';
import { globalPolicyOf } from '../../../src/features/policy-rules/global-policy.ts';
import { hostsWithout } from '../../../src/features/policy-rules/without-policy.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { ALLOW_ALL, DENY, type Fleet, fleetOf, GROUP, hep, object, policy } from './fleet.ts';

const ALLOW = [{ action: 'Allow' }];
const BOTH = { ingress: ALLOW, egress: ALLOW };
const TEMPORARY = policy('allow-all-upgrade', 'has(upgrade)', { ...BOTH, applyOnForward: true });

/** Without the temporary policy, and without `twin` if there is one. */
function without(policies: readonly KubeObject[], { twin, ...more }: Partial<Fleet> & { readonly twin?: KubeObject } = {}) {
  const endpoints = [
    hep('bare', 'n1', { upgrade: '' }),
    hep('open', 'n2', { upgrade: '' }, { profiles: [ALLOW_ALL] }),
    hep('policed', 'n3', { upgrade: '', role: 'db' }),
    hep('other', 'n4', { role: 'db' }),
  ];
  const gone = twin ? [TEMPORARY, twin] : [TEMPORARY];
  const fleet = fleetOf({ nodes: {}, endpoints, ...more, policies: [...gone, ...policies] });
  return hostsWithout(
    gone.map((one) => globalPolicyOf(one, { apiGroup: GROUP })),
    fleet.endpoints,
    fleet.world,
  );
}

describe('hosts without the temporary policy', () => {
  const db = policy('db', 'role == "db"', { types: ['Ingress'], ingress: [{ action: 'Allow', protocol: 'TCP' }] });

  it('are those on which it is in force', () => {
    assert.deepEqual(
      without([db]).map(({ endpoint }) => endpoint.name),
      ['bare', 'open', 'policed'],
    );
  });

  it('are cut off where nothing else lets traffic through', () => {
    assert.deepEqual(
      without([db]).map(({ denied }) => denied.map(({ lane }) => lane)),
      [['ingress', 'egress'], [], ['egress']],
    );
  });

  it('are cut off where a profile does not exist: the agents drop everything in its place', () => {
    const endpoints = [hep('stale', 'n1', { upgrade: '' }, { profiles: ['kns.gone', ALLOW_ALL] })];
    assert.deepEqual(
      without([], { endpoints }).map(({ denied }) => denied.map(({ lane }) => lane)),
      [['ingress', 'egress']],
    );
  });

  it('are the same where it is stored under two names, and both go', () => {
    const twin = { ...TEMPORARY, metadata: { ...TEMPORARY.metadata, name: 'default.allow-all-upgrade' } };
    assert.deepEqual(without([db], { twin }), without([db]));
  });

  it('are cut off where the policies that are left only drop, and these are named', () => {
    const [bare] = without([policy('default-deny', 'all()', { ingress: [], egress: [] })]);
    const after = { policies: ['default-deny'], end: 'deny' };
    assert.deepEqual(bare?.denied, [
      { lane: 'ingress', after },
      { lane: 'egress', after },
    ]);
  });
});

describe('a way on which only other policies are left', () => {
  const TCP = { protocol: 'TCP' };
  const tier = (name: string, order: number, defaultAction?: string) => object('Tier', name, { order, defaultAction });
  const tiers = [tier('first', 1, 'Deny'), tier('default', 100, 'Deny')];
  const open = [hep('host', 'n1', { upgrade: '' }, { profiles: [ALLOW_ALL] })];
  const bare = [hep('host', 'n1', { upgrade: '' })];
  const ingress = (name: string, rules: readonly object[], more: object = {}) =>
    policy(name, 'all()', { types: ['Ingress'], ingress: rules, ...more });

  const cases: readonly (readonly [title: string, given: Partial<Fleet>, cutOff: boolean])[] = [
    ['has no rule', { policies: [ingress('p', [])] }, true],
    ['drops and logs', { policies: [ingress('p', [{ action: 'Log' }, ...DENY])] }, true],
    ['drops a part and allows nothing', { policies: [ingress('p', [{ action: 'Deny', ...TCP }])] }, true],
    ['allows a part', { policies: [ingress('p', [{ action: 'Allow', ...TCP }])] }, false],
    ['allows a part after dropping another', { policies: [ingress('p', [{ action: 'Deny', ...TCP }, ...ALLOW])] }, false],
    ['allows only what was dropped before', { policies: [ingress('p', [...DENY, ...ALLOW])] }, true],
    ['allows only what an earlier policy dropped', { policies: [ingress('q', ALLOW), ingress('p', DENY)] }, true],
    ['allows what a policy of lower order decides first', { policies: [ingress('q', ALLOW, { order: 1 }), ingress('p', DENY)] }, false],
    [
      'drops all the same where a rule only has a note',
      { policies: [ingress('p', [{ ...DENY[0], metadata: { annotations: { a: 'b' } } }, ...ALLOW])] },
      true,
    ],
    ['passes a part on to the allow-all profile', { endpoints: open, policies: [ingress('p', [{ action: 'Pass', ...TCP }])] }, false],
    ['passes everything on, to no profile', { policies: [ingress('p', [{ action: 'Pass' }])] }, true],
    ['passes everything on before it allows any', { policies: [ingress('p', [{ action: 'Pass' }, ...ALLOW])] }, true],
    ['drops before it passes anything on', { endpoints: open, policies: [ingress('p', [...DENY, { action: 'Pass' }])] }, true],
    [
      'ends before a later tier that allows',
      { tiers: [tier('default', 1), tier('last', 2)], policies: [ingress('p', []), ingress('q', ALLOW, { tier: 'last' })] },
      true,
    ],
    [
      'passes from an earlier tier to one that allows',
      { tiers, policies: [ingress('p', [{ action: 'Pass', ...TCP }], { tier: 'first' }), ingress('q', ALLOW)] },
      false,
    ],
    [
      'passes from an earlier tier to one that does not',
      { tiers, policies: [ingress('p', [{ action: 'Pass' }], { tier: 'first' }), ingress('q', DENY)] },
      true,
    ],
    [
      'leaves an earlier tier that passes by itself',
      { tiers: [tier('first', 1, 'Pass')], policies: [ingress('p', [], { tier: 'first' }), ingress('q', ALLOW)] },
      false,
    ],
    [
      'ends in no profile after a tier that passes by itself',
      { tiers: [tier('first', 1, 'Pass')], policies: [ingress('p', [], { tier: 'first' })] },
      true,
    ],
    [
      'ends in a profile that only drops',
      { endpoints: [hep('host', 'n1', { upgrade: '' }, { profiles: ['p1'] })], profiles: { p1: { ingress: DENY } } },
      true,
    ],
    [
      'ends in a profile that allows a part',
      {
        endpoints: [hep('host', 'n1', { upgrade: '' }, { profiles: ['p1'] })],
        profiles: { p1: { ingress: [{ action: 'Allow', ...TCP }] } },
      },
      false,
    ],
  ];
  for (const [title, given, cutOff] of cases) {
    it(`is ${cutOff ? '' : 'not '}cut off where it ${title}`, () => {
      const [host] = without(given.policies ?? [], { endpoints: bare, ...given });
      assert.equal(
        host?.denied.some(({ lane }) => lane === 'ingress'),
        cutOff,
      );
    });
  }

  const forwarded = (rules: readonly object[]) => {
    const [host] = without([ingress('p', rules, { applyOnForward: true })], { endpoints: bare });
    return host?.denied.map(({ lane }) => lane);
  };

  it('is forwarded traffic, which needs no profile once a policy passes it on', () => {
    assert.deepEqual(forwarded([]), ['ingress', 'egress', 'forward-ingress']);
    assert.deepEqual(forwarded([{ action: 'Pass' }]), ['ingress', 'egress']);
  });

  it('is what comes before address translation, where only a rule drops', () => {
    const temporary = policy('allow-all-upgrade', 'all()', { types: ['Ingress'], ingress: ALLOW, preDNAT: true });
    const judged = (rules: readonly object[]) => {
      const { endpoints, world } = fleetOf({ nodes: {}, endpoints: bare, policies: [temporary, ingress('p', rules, { preDNAT: true })] });
      return hostsWithout([globalPolicyOf(temporary, { apiGroup: GROUP })], endpoints, world)[0]?.denied.map(({ lane }) => lane);
    };
    assert.deepEqual([judged([]), judged(DENY)], [[], ['pre-dnat']]);
  });

  it('is not cut off by what goes where nothing gets through before either', () => {
    const [host] = without([ingress('wall', DENY, { order: 1 })], { endpoints: bare });
    assert.deepEqual(
      host?.denied.map(({ lane }) => lane),
      ['egress'],
    );
  });
});
