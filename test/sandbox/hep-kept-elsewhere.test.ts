import assert from 'node:assert/strict';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { hepStage } from '../../src/features/hosts/stage.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { stateOf, upgraded } from '../support/hep-sandbox.ts';
import { performIn } from '../support/sandbox-ports.ts';

const SUBJECTS = [
  'HostEndpoint/old-1',
  'HostEndpoint/old-2',
  'KubeControllersConfiguration/default',
  'Node/node-01 role',
  'Node/node-02 role',
];

/** A new process that migrates, or takes back, on this machine or on another one than that which kept what is there. */
const play = (scenario: Scenario, undo: boolean, accept: readonly string[] = []) =>
  performIn(scenario, [hepStage], { undo, yes: true, accept });

const foundIn = ({ findings }: ChainOutcome) => findings.find(({ id }) => id === 'NS-016') ?? assert.fail('NS-016 was not evaluated');

describe('hep --undo with what another machine kept', () => {
  let scenario: Scenario;
  let migrated: unknown;
  beforeEach(async () => {
    scenario = await upgraded(2);
    assert.equal((await play(scenario, false)).exit, 'done');
    migrated = stateOf(scenario);
    scenario.state.keptElsewhere = true;
  });

  for (const accept of [[], ['NS-016'], SUBJECTS.slice(1).map((one) => `NS-016=${one}`)])
    it(`names each object, and changes nothing with --yes and ${accept.length} accepted`, async () => {
      const outcome = await play(scenario, true, accept);
      const { message, evidence } = foundIn(outcome);
      assert.equal(outcome.exit, 'blocked');
      assert.match(message, /^another machine kept 5 things that would be undone: HostEndpoint\/old-1, /);
      assert.deepEqual(
        evidence.map(({ text }) => text),
        SUBJECTS,
      );
      assert.match(evidence[0]?.detail ?? '', /^created again: node node-01, addresses 10\.0\.0\.1, profiles none, labels role=host$/);
      assert.deepEqual(stateOf(scenario), migrated);
    });

  it('changes it back once each is accepted by its name', async () => {
    const outcome = await play(
      scenario,
      true,
      SUBJECTS.map((one) => `NS-016=${one}`),
    );
    assert.equal(outcome.exit, 'done', outcome.message);
    assert.notDeepEqual(stateOf(scenario), migrated);
  });

  it('names nothing on the machine that kept it', async () => {
    delete scenario.state.keptElsewhere;
    const outcome = await play(scenario, true);
    assert.deepEqual([outcome.exit, foundIn(outcome).outcome], ['done', 'ok']);
  });
});
