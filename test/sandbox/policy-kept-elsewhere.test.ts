import assert from 'node:assert/strict';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { policyStage } from '../../src/features/chain.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { kindOf, put } from '../support/hep-sandbox.ts';

import { type Flags, installedSandbox, performIn } from '../support/sandbox-ports.ts';

const NAME = netsvc.temporaryPolicy;
const SUBJECT = `GlobalNetworkPolicy/${NAME}`;

const play = (scenario: Scenario, flags: Flags) => performIn(scenario, [policyStage], { yes: true, ...flags });

const policies = ({ cluster }: Scenario) => {
  const kind = kindOf(cluster, 'globalnetworkpolicies');
  return cluster.store.list(kind).map(({ metadata }) => metadata.name);
};
const foundIn = ({ findings }: ChainOutcome) => findings.find(({ id }) => id === 'NS-017') ?? assert.fail('NS-017 was not evaluated');

describe('policy --undo with what another machine kept', () => {
  let scenario: Scenario;
  beforeEach(async () => {
    scenario = await installedSandbox({ nodes: 1, installed: 'v3.32.2' });
    put(scenario, 'GlobalNetworkPolicy', NAME, { selector: 'all()', types: ['Ingress'], ingress: [{ action: 'Allow' }] });
    assert.equal((await play(scenario, { delete: NAME })).exit, 'done');
    scenario.state.keptElsewhere = true;
  });

  for (const accept of [[], ['NS-017'], ['NS-017=GlobalNetworkPolicy/other']])
    it(`names the policy with what it says, and creates nothing with --yes ${accept.join()}`.trim(), async () => {
      const outcome = await play(scenario, { undo: true, accept });
      const { message, evidence } = foundIn(outcome);
      assert.deepEqual([outcome.exit, policies(scenario)], ['blocked', []]);
      assert.equal(message, `another machine kept 1 policy that would be created: ${SUBJECT}`);
      assert.match(evidence[0]?.detail ?? '', /"selector":"all\(\)".*"action":"Allow"/);
    });

  it('creates it once it is accepted by its name, and without a question on the machine that kept it', async () => {
    assert.equal((await play(scenario, { undo: true, accept: [`NS-017=${SUBJECT}`] })).exit, 'done');
    assert.deepEqual(policies(scenario), [NAME]);
    assert.equal((await play(scenario, { delete: NAME })).exit, 'done');
    delete scenario.state.keptElsewhere;
    const outcome = await play(scenario, { undo: true });
    assert.deepEqual([outcome.exit, foundIn(outcome).outcome, policies(scenario)], ['done', 'ok', [NAME]]);
  });

  const REF = { apiVersion: 'v3', kind: 'GlobalNetworkPolicy', name: NAME };
  const metadata = { name: NAME };
  for (const policy of [
    null,
    [],
    'x',
    7,
    {},
    { metadata: { name: 1 } },
    { metadata, spec: 'all()' },
    { metadata: { ...metadata, labels: 'x' } },
  ])
    it(`passes over what is no policy: ${JSON.stringify(policy)}`, async () => {
      const content = { changes: [{ ref: REF, before: { '': policy }, after: {} }] };
      scenario.state.kept.clear();
      scenario.state.kept.set('20251121T020000Z-00000000/policy/delete-1#1', JSON.stringify(content));
      const outcome = await play(scenario, { undo: true });
      assert.deepEqual([outcome.exit, outcome.message, policies(scenario)], ['done', undefined, []]);
    });
});
