import assert from 'node:assert/strict';
import { globalPolicyOf } from '../../src/policy/global-policy.ts';
import { hostsWithout } from '../../src/policy/without-policy.ts';
import { ALLOW_ALL, fleetOf, GROUP, hep, policy } from './fleet.ts';

const TEMPORARY = policy('allow-all-upgrade', 'has(upgrade)', {
  ingress: [{ action: 'Allow' }],
  egress: [{ action: 'Allow' }],
  applyOnForward: true,
});

/** Without the temporary policy, and without `twin` if there is one. */
function without(policies: readonly ReturnType<typeof policy>[], twin?: ReturnType<typeof policy>) {
  const endpoints = [
    hep('bare', 'n1', { upgrade: '' }),
    hep('open', 'n2', { upgrade: '' }, { profiles: [ALLOW_ALL] }),
    hep('policed', 'n3', { upgrade: '', role: 'db' }),
    hep('other', 'n4', { role: 'db' }),
  ];
  const gone = twin ? [TEMPORARY, twin] : [TEMPORARY];
  const fleet = fleetOf({ nodes: {}, endpoints, policies: [...gone, ...policies] });
  return hostsWithout(
    gone.map((one) => globalPolicyOf(one, { apiGroup: GROUP })),
    fleet.endpoints,
    fleet.world,
  );
}

describe('hosts without the temporary policy', () => {
  const db = policy('db', 'role == "db"', { types: ['Ingress'] });

  it('are those on which it is in force', () => {
    assert.deepEqual(
      without([db]).map(({ endpoint }) => endpoint.name),
      ['bare', 'open', 'policed'],
    );
  });

  it('are cut off where nothing else lets traffic through', () => {
    assert.deepEqual(
      without([db]).map(({ denied }) => denied),
      [['ingress', 'egress'], [], ['egress']],
    );
  });

  it('are left to other policies where there are some', () => {
    const [, , policed] = without([db]);
    assert.deepEqual(policed?.decided, [{ lane: 'ingress', after: { policies: ['db'], end: 'deny' } }]);
  });

  it('are the same where it is stored under two names, and both go', () => {
    const twin = { ...TEMPORARY, metadata: { ...TEMPORARY.metadata, name: 'default.allow-all-upgrade' } };
    assert.deepEqual(without([db], twin), without([db]));
  });
});
