import assert from 'node:assert/strict';
import { endpointsWithoutNode, hostEndpointVerdicts, type NodeVerdict } from '../../../src/policy/host-endpoint-verdicts.ts';
import { calico } from '../../../src/profiles/calico.ts';
import type { HepFacts } from '../../../src/stages/hep/facts.ts';
import { hepJudged } from '../../../src/stages/hep/judged.ts';
import { contextOf } from '../../fixtures/facts.ts';
import { type Fleet, fleetOf, hep, SIGNS } from '../../policy/fleet.ts';

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
    ...{ verdicts: { value: change(hostEndpointVerdicts(facts)) }, elsewhere: endpointsWithoutNode(facts) },
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
        ['n1', 'OPEN', 'once the old endpoint is deleted'],
      ],
    );
  });

  it('say once what stays as it became', () => {
    const { verdicts } = judgedIn(policed, (all) => all.map((one) => ({ ...one, atEnable: one.atDelete })));
    assert.ok('value' in verdicts);
    assert.deepEqual(
      verdicts.value.map(({ detail }) => detail.match(/as soon as|once the/g)),
      [['as soon as']],
    );
  });
});
