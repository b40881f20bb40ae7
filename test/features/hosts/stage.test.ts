import assert from 'node:assert/strict';
import { addLabels, migrationNotes } from '../../../src/features/hosts/stage.ts';
import { fleetVerdicts } from '../../../src/features/policy-rules/host-endpoint-verdicts.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { ALLOW_ALL, type Fleet, fleetOf, hep, SIGNS } from '../policy-rules/fleet.ts';

const notesOf = (fleet: Fleet, failsafe: Parameters<typeof migrationNotes>[0]['failsafe'] = { value: undefined }) => {
  const facts = fleetOf(fleet);
  return migrationNotes({ endpoints: facts.endpoints, verdicts: fleetVerdicts(facts).hosts, failsafe }, calico);
};
const AUTOMATIC = { [SIGNS.createdBy]: SIGNS.createdByValue };
const OPEN = { profiles: [ALLOW_ALL] };

describe('the notes of hep', () => {
  const rows: Readonly<Record<string, readonly [Fleet['endpoints'], RegExp]>> = {
    'name the nodes that the allow-all profile opens': [[hep('a', 'n1')], /^automatic .* let through: n1$/m],
    'name the first nodes that the allow-all profile opens, and count the others': [
      [hep('a', 'n1'), hep('b', 'n2'), hep('c', 'n3'), hep('d', 'n4')],
      /^automatic .* let through: n1, n2, n3 and 1 more \(NS-711 names all, with -o wide\)$/m,
    ],
    'name nobody where nothing is opened': [[hep('a', 'n1', {}, OPEN)], /^automatic .* let through$/m],
    'name endpoints of one interface': [
      [hep('eth', 'n1', {}, { interfaceName: 'eth0' })],
      /^1 host endpoint not of all interfaces, not migrated: eth \(interface eth0\)$/m,
    ],
    'name endpoints by addresses': [
      [hep('ip', 'n1', {}, { interfaceName: undefined, expectedIPs: ['10.0.0.1'] })],
      /not migrated: ip \(by its addresses\)$/m,
    ],
    'name nodes that are half migrated': [
      [hep('a', 'n1', {}, OPEN), hep('n1-auto-hep', 'n1', AUTOMATIC, OPEN)],
      /^1 node with an automatic endpoint beside old ones already: n1;/m,
    ],
    'name several of one node': [
      [hep('a', 'n1', {}, OPEN), hep('z', 'n1', {}, OPEN)],
      /^1 node with several old endpoints, of which the first by name acts now: n1 \(a, z\);/m,
    ],
  };
  for (const [title, [endpoints = [], says]] of Object.entries(rows)) {
    it(title, () => assert.match(notesOf({ nodes: { n1: {}, n2: {}, n3: {}, n4: {} }, endpoints }).join('\n'), says));
  }

  it('are one where nothing is odd', () => assert.equal(notesOf({ nodes: { n1: {} }, endpoints: [hep('a', 'n1', {}, OPEN)] }).length, 1));

  it('name the ports that stay open in any case', () => {
    const said = (failsafe: Parameters<typeof notesOf>[1]) => notesOf({ nodes: { n1: {} } }, failsafe).join('\n');
    assert.match(
      said({ value: { inbound: ['tcp:22', 'udp:68'], outbound: [] } }),
      /^failsafe ports stay open .*: to the host tcp:22, udp:68; from the host none$/m,
    );
    assert.match(said({ unread: 'forbidden' }), /could not be read: forbidden/);
  });
});

const node = (labels?: Readonly<Record<string, string>>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', uid: 'u1', resourceVersion: '7', ...(labels ? { labels } : {}) },
});

describe('labels of old endpoints on their node', () => {
  it('are added beside the very labels that were read', () =>
    assert.deepEqual(addLabels(node({ zone: 'a' }), { 'x.io/role': 'edge' }).patch, [
      { op: 'test', path: '/metadata/labels', value: { zone: 'a' } },
      { op: 'add', path: '/metadata/labels/x.io~1role', value: 'edge' },
    ]));

  it('write over none that a node without labels got meanwhile', () =>
    assert.deepEqual(addLabels(node(), { role: 'edge' }).patch, [
      { op: 'replace', path: '/metadata/resourceVersion', value: '7' },
      { op: 'add', path: '/metadata/labels', value: { role: 'edge' } },
    ]));
});
