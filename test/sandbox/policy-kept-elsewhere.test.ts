import assert from 'node:assert/strict';
import { toOptions } from '../../src/cli/options.ts';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { runChain } from '../../src/engine/run-chain.ts';
import { policyStage } from '../../src/features/chain.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import { virtualClock } from '../../src/sandbox/clock.ts';
import { netsvcScenario, type Scenario } from '../../src/sandbox/scenario.ts';
import { put } from '../support/hep-sandbox.ts';
import { sandboxReleases } from '../support/sandbox-command.ts';
import { sandboxPorts } from '../support/sandbox-ports.ts';

const NAME = netsvc.temporaryPolicy;
const SUBJECT = `GlobalNetworkPolicy/${NAME}`;

async function play(scenario: Scenario, flags: Parameters<typeof toOptions>[0]): Promise<ChainOutcome> {
  const { clock, clusterUid, workFolder } = scenario;
  const options = toOptions({ yes: true, ...flags }, { defaultRelease: netsvc.defaultRelease, checks: ['NS-017', 'NS-721'] });
  const where = { server: 'sandbox', contextName: 'sandbox', clusterUid, workFolder };
  const context = { profile: netsvc, options, ...where, startedAt: clock.now() };
  return runChain([policyStage], sandboxPorts(scenario), context, () => undefined);
}

const policies = ({ cluster }: Scenario) => {
  const kind = cluster.kinds().find(({ plural }) => plural === 'globalnetworkpolicies') ?? assert.fail();
  return cluster.store.list(kind).map(({ metadata }) => metadata.name);
};
const foundIn = ({ findings }: ChainOutcome) => findings.find(({ id }) => id === 'NS-017') ?? assert.fail('NS-017 was not evaluated');

describe('policy --undo with what another machine kept', () => {
  let scenario: Scenario;
  beforeEach(async () => {
    scenario = await netsvcScenario({ nodes: 1, releasesFolder: sandboxReleases, clock: virtualClock(), installed: 'v3.32.2' });
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
