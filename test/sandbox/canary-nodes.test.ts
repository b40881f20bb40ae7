import assert from 'node:assert/strict';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { isPodReady, nodeOf } from '../../src/sandbox/pods-of.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { agentPods, allNodes, newOn, removeNode, strategy, waved } from '../support/canary-sandbox.ts';
import { installedSandbox, performIn } from '../support/sandbox-ports.ts';

const CANARY = 'node-02';
const JOINED = 'node-06';
const ROLLING = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } };
const HELD = { type: 'OnDelete' };

/** When something happens: each is true from some moment of the run on. */
const PHASES = {
  'while its agent starts': (scenario: Scenario) => newOn(scenario).includes(CANARY),
  'in the soak': (scenario: Scenario) =>
    agentPods(scenario).some((pod) => nodeOf(pod) === CANARY && isPodReady(pod) && newOn(scenario).length === 1),
  'while the others follow': (scenario: Scenario) => newOn(scenario).length === 3,
} as const;
type Phase = keyof typeof PHASES;

const WHAT = {
  'a node joins': ({ cluster }: Scenario) => void cluster.nodes.add(1),
  'a node joins whose agent crashes': ({ cluster }: Scenario) => {
    cluster.nodes.add(1);
    cluster.nodes.fault(JOINED, 'crash-loop');
  },
  'its node is cordoned': (scenario: Scenario) => cordon(scenario, CANARY),
  'another node is cordoned': (scenario: Scenario) => cordon(scenario, 'node-05'),
  'its node disappears': (scenario: Scenario) => removeNode(scenario, CANARY),
  'another node disappears': (scenario: Scenario) => removeNode(scenario, 'node-05'),
  'another agent is to crash': (scenario: Scenario) => {
    const old = allNodes(scenario).find((node) => !newOn(scenario).includes(node));
    scenario.cluster.nodes.fault(old ?? assert.fail('none is old'), 'crash-loop');
  },
} as const;
type What = keyof typeof WHAT;

function cordon({ cluster: { store } }: Scenario, name: string): void {
  const node = store.get(K.Node, name) ?? assert.fail(name);
  store.update(K.Node, { ...node, spec: { ...(node.spec as object), unschedulable: true } } as KubeObject);
}

/** How it ends where that is not a whole upgrade: the exit, and what is new then. */
const ENDS: Partial<Record<`${What}, ${Phase}`, readonly [string, readonly string[], unknown]>> = {
  'a node joins whose agent crashes, while its agent starts': ['stopped', [CANARY, JOINED], HELD],
  'a node joins whose agent crashes, in the soak': ['stopped', [CANARY, JOINED], HELD],
  'its node disappears, while its agent starts': ['stopped', [], HELD],
  'its node disappears, in the soak': ['stopped', [], HELD],
};

describe('a canary while its nodes change', function () {
  this.timeout(120_000);
  for (const phase of Object.keys(PHASES) as Phase[])
    for (const what of Object.keys(WHAT) as What[])
      it(`${what}, ${phase}`, async () => {
        const scenario = await installedSandbox({ nodes: 5 });
        let isBegun = false;
        const early: string[] = [];
        scenario.cluster.store.listen(({ kind }) => {
          if (kind.plural !== K.Pod.plural) return;
          // While the strategy is held, nobody but whom the user chose and who joined is new.
          if ((strategy(scenario) as { type: string }).type === 'OnDelete')
            early.push(...newOn(scenario).filter((node) => node !== CANARY && node !== JOINED));
          if (isBegun || !PHASES[phase](scenario)) return;
          isBegun = true;
          scenario.clock.schedule(1, () => WHAT[what](scenario));
        });
        const { exit, message } = await performIn(
          scenario,
          [applyStage],
          { canary: CANARY, soak: '10m', timeout: '15m' },
          { profile: waved },
        );
        assert.equal(isBegun, true);
        const expected = ENDS[`${what}, ${phase}`] ?? endOf(what, scenario);
        assert.deepEqual([exit, newOn(scenario), strategy(scenario)], expected, message);
        assert.deepEqual(early, []);
        if (what === 'its node disappears' && exit === 'stopped')
          assert.equal(message, `the canary is gone: ${CANARY} is no node of this cluster any more`);
      });
});

/** The others follow; an agent that crashes then stops the run, where the DaemonSet goes on by itself. */
function endOf(what: What, scenario: Scenario): readonly [string, readonly string[], unknown] {
  const crashes = what === 'a node joins whose agent crashes' || what === 'another agent is to crash';
  return crashes ? ['stopped', newOn(scenario), ROLLING] : ['done', allNodes(scenario), ROLLING];
}
