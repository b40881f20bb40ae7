import assert from 'node:assert/strict';
import type { HepFacts } from '../../../src/features/hosts/facts.ts';
import { hepJudged } from '../../../src/features/hosts/judged.ts';
import { endpointsWithoutNode, fleetVerdicts, type NodeVerdict } from '../../../src/features/policy-rules/host-endpoint-verdicts.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf } from '../../fixtures/facts.ts';
import { type Fleet, fleetOf, hep, policy, SIGNS } from '../policy-rules/fleet.ts';

/** Nothing else of the cluster stands in the way. */
function judgedIn(fleet: Fleet, change: (verdicts: readonly NodeVerdict[]) => readonly NodeVerdict[] = (same) => same) {
  const facts = fleetOf(fleet);
  const read = {
    ...{
      nodes: facts.nodes,
      settings: facts.settings,
      cli: { missing: 'none was found' },
      rollouts: { value: [] },
      override: { value: undefined },
    },
    ...{
      ruleChanges: { value: [] },
      after: { value: [] },
      verdicts: { value: change(fleetVerdicts(facts).hosts) },
      elsewhere: endpointsWithoutNode(facts),
    },
    ...{ installation: { datastore: 'api', components: [] }, configuration: {} },
  } as unknown as HepFacts;
  return hepJudged(read, { ...contextOf(), profile: calico });
}

const unclearIn = (fleet: Fleet) => judgedIn(fleet).unclear;

const nodes = { n1: {}, n2: {} };

describe('an endpoint with one sign of an automatic one', () => {
  it('stays where no node waits for its name', () => {
    assert.deepEqual(unclearIn({ nodes, endpoints: [hep('x-auto-hep', 'n1')] }), [
      { name: 'x-auto-hep', detail: 'node n1', fate: 'stays' },
    ]);
  });

  it('is in the way of its own node under the name of the automatic one', () => {
    assert.deepEqual(unclearIn({ nodes, endpoints: [hep('n1-auto-hep', 'n1')] }), [
      { name: 'n1-auto-hep', detail: 'node n1', fate: 'blocks' },
    ]);
  });

  it('is in the way of another node under the name of that one’s', () => {
    assert.deepEqual(unclearIn({ nodes, endpoints: [hep('n1-auto-hep', 'n2')] }), [
      { name: 'n1-auto-hep', detail: 'node n2; node n1 gets none, for it has its name', fate: 'blocks' },
    ]);
  });

  it('is so as well if its own host is not in the cluster', () => {
    assert.deepEqual(unclearIn({ nodes, endpoints: [hep('n1-auto-hep', 'gone'), hep('y-auto-hep', 'gone')] }), [
      { name: 'n1-auto-hep', detail: 'node gone; node n1 gets none, for it has its name', fate: 'blocks' },
    ]);
  });

  it('is deleted by the controllers if the sign is their label', () => {
    const label = { [SIGNS.createdBy]: SIGNS.createdByValue };
    const [one] = unclearIn({ nodes, endpoints: [hep('mine', 'n1', label)] });
    assert.deepEqual([one?.name, one?.fate], ['mine', 'deleted']);
  });
});

describe('the verdicts that are judged', () => {
  const policed = { nodes: { n1: {} }, endpoints: [hep('old', 'n1')] };

  // Labels of Kubernetes' own prefixes are not copied: what selects by them is lost.
  const losing = (count: number) => {
    const lost = Array.from({ length: count }, (_, index) => policy(`p${index}`, 'has(node.kubernetes.io/old)', { order: index }));
    const endpoints = [hep('old', 'n1', { 'node.kubernetes.io/old': 'yes' })];
    const { verdicts } = judgedIn({ nodes: { n1: {} }, endpoints, policies: [policy('always', 'all()', { order: 1000 }), ...lost] });
    assert.ok('value' in verdicts);
    return verdicts.value[0];
  };

  it('name the first three policies of a lane in their order in brief, and all of them in whole', () => {
    const one = losing(5);
    const both = (before: string) => `ingress, egress: now policies ${before}, else deny; afterwards policy always, else deny`;
    assert.equal(one?.brief, `as soon as enabled: ${both('p0, p1, p2 and 3 more')}`);
    assert.equal(one?.detail, `as soon as enabled: ${both('p0, p1, p2, p3, p4, always')}`);
  });

  it('have one text where there are no more than three', () => {
    const one = losing(2);
    assert.match(one?.detail ?? '', /now policies p0, p1, always, else deny; afterwards policy always, else deny$/);
    assert.equal(one?.brief, undefined);
  });

  it('are both told where a node is changed in one way at once and in another later: accepting one accepts no other', () => {
    const { verdicts } = judgedIn(policed, (all) =>
      all.map((one) => {
        assert.equal(one.atDelete.verdict, 'OPEN');
        const changes = one.atDelete.changes.map((change) => ({ ...change, verdict: 'CHANGED' as const }));
        return { ...one, atEnable: { ...one.atDelete, verdict: 'CHANGED', changes } };
      }),
    );
    assert.ok('value' in verdicts);
    assert.deepEqual(
      verdicts.value.map(({ node, verdict, detail }) => [node, verdict, detail.replace(/: .*/, '')]),
      [
        ['n1', 'CHANGED', 'as soon as enabled'],
        ['n1', 'OPEN', 'once host endpoint old is deleted'],
      ],
    );
  });

  it('name every old endpoint that goes, and say before and now where the automatic one is in force already', () => {
    const later = judgedIn(policed, (all) =>
      all.map((one) => ({
        ...one,
        atEnable: { ...one.atDelete, changes: [] },
        old: one.old.flatMap((old) => [old, { ...old, name: 'older' }]),
      })),
    );
    assert.ok('value' in later.verdicts);
    assert.equal(
      later.verdicts.value[0]?.detail,
      'once host endpoints old, older are deleted: ingress, egress: now deny; afterwards allow',
    );
    const since = judgedIn(policed, (all) => all.map((one) => ({ ...one, inForce: true, atEnable: one.atDelete })));
    assert.ok('value' in since.verdicts);
    assert.match(since.verdicts.value[0]?.detail ?? '', /^since automatic ones are enabled: ingress, egress: before deny; now allow$/);
  });

  it('say once what stays as it became', () => {
    const { verdicts } = judgedIn(policed, (all) => all.map((one) => ({ ...one, atEnable: one.atDelete })));
    assert.ok('value' in verdicts);
    assert.deepEqual(
      verdicts.value.map(({ detail }) => detail.match(/as soon as|once host/g)),
      [['as soon as']],
    );
  });
});
