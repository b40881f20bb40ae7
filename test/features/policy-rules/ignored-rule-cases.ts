const to = (ports: readonly unknown[], more: object = {}) => ({ destination: { ports }, ...more });

/** What the agents of v3.32.1 find invalid, and what is said of it (`real-verdicts.test.ts` asks their calculation graph). */
export const IGNORED: readonly (readonly [rule: object, says: string])[] = [
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

/** Rules that they take. */
export const VALID: readonly object[] = [
  {},
  to(['http']),
  to([22, '80:90', '443', 'http'], { protocol: 'TCP' }),
  to([22], { protocol: 'udp' }),
  to([22], { protocol: 132 }),
  { protocol: 'ICMPv6', notProtocol: '17', ipVersion: 6 },
  { source: null, destination: { ports: null } },
];
