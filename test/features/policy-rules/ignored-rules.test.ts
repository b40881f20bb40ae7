import assert from 'node:assert/strict';
import { globalPolicyOf } from '../../../src/features/policy-rules/global-policy.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import { GROUP, policy } from './fleet.ts';

const read = (rule: object, way: 'ingress' | 'egress' = 'ingress') =>
  globalPolicyOf(policy('p', 'all()', { [way]: [{ action: 'Log' }, { action: 'Allow', ...rule }] }), { apiGroup: GROUP });
const to = (ports: readonly unknown[], more: object = {}) => ({ destination: { ports }, ...more });

/** What the agents of v3.32.1 find invalid, seen in their calculation graph; what is said of it. */
const IGNORED: readonly (readonly [rule: object, says: string])[] = [
  [to([22]), 'destination.ports: 22 needs a protocol that has ports (TCP, UDP or SCTP)'],
  [to(['http', '80:90']), 'destination.ports: 80:90 needs a protocol that has ports (TCP, UDP or SCTP)'],
  [{ source: { notPorts: [22] } }, 'source.notPorts: 22 needs a protocol that has ports (TCP, UDP or SCTP)'],
  [to([22], { protocol: 'ICMP' }), 'destination.ports: 22 is given, and ICMP has no ports'],
  [to(['http'], { protocol: 1 }), 'destination.ports: http is given, and 1 has no ports'],
  [to(['90:80'], { protocol: 'TCP' }), 'destination.ports: 90:80 is no port or range of ports'],
  [to([0], { protocol: 'TCP' }), 'destination.ports: 0 is no port or range of ports'],
  [to(['HTTP'], { protocol: 'TCP' }), 'destination.ports: HTTP is no name of a port'],
  [{ protocol: 'HTTP' }, 'protocol: HTTP is no protocol'],
  [{ notProtocol: 0 }, 'notProtocol: 0 is no protocol'],
  [{ ipVersion: 5 }, 'ipVersion: 5 is neither 4 nor 6'],
];

const VALID: readonly object[] = [
  {},
  to(['http']),
  to([22, '80:90', '443', 'http'], { protocol: 'TCP' }),
  to([22], { protocol: 'udp' }),
  to([22], { protocol: 132 }),
  { protocol: 'ICMPv6', notProtocol: '17', ipVersion: 6 },
  { source: null, destination: { ports: null } },
];

describe('a policy that the agents ignore for one of its rules', () => {
  for (const [rule, says] of IGNORED) {
    it(`is not taken for one in force: ${JSON.stringify(rule)}`, () => {
      for (const way of ['ingress', 'egress'] as const) {
        assert.throws(
          () => read(rule, way),
          (thrown) =>
            thrown instanceof Fault &&
            thrown.message === `GlobalNetworkPolicy/p: spec.${way}[1].${says}; for this rule the agents ignore the whole policy`,
        );
      }
    });
  }

  for (const rule of VALID) {
    it(`is none with ${JSON.stringify(rule)}`, () => {
      assert.equal(read(rule).rules.ingress.length, 2);
    });
  }
});
