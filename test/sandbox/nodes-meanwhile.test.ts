import assert from 'node:assert/strict';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import type { Observer } from '../../src/kernel/event.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { isPodReady, nodeOf } from '../../src/sandbox/pods-of.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { AGENTS, agentPods, allNodes, newOn, removeNode, strategy, waved } from '../support/canary-sandbox.ts';
import { HOOKS, hooked } from '../support/hooked.ts';
import { groundOf } from '../support/incident-grounds.ts';
import { momentOf } from '../support/moment.ts';
import { type Flags, installedSandbox, performIn } from '../support/sandbox-ports.ts';

const JOINED = 'node-06';
const ROLLING = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } };
const HELD = { type: 'OnDelete' };
/** Of a command, in the middle of which something happens. */
const TAKES_MS = 60_000;

const isNewAndReady = (scenario: Scenario, node: string): boolean =>
  newOn(scenario).includes(node) && agentPods(scenario).some((pod) => nodeOf(pod) === node && isPodReady(pod));

/** Calls it once that is so. */
function when({ cluster: { store } }: Scenario, isSo: () => boolean, then: () => void): void {
  let isOver = false;
  store.listen(({ kind }) => {
    if (isOver || kind.plural !== K.Pod.plural || !isSo()) return;
    isOver = true;
    then();
  });
}

/** When something happens, around node-03; what is new then. */
const PHASES: Readonly<Record<string, { readonly at: (scenario: Scenario, what: () => void) => void; readonly fresh: readonly string[] }>> =
  {
    'while --before-node is at work': {
      at: (scenario, what) =>
        when(
          scenario,
          () => ['node-01', 'node-02'].every((node) => isNewAndReady(scenario, node)),
          // Its own --after-node comes first.
          () => void scenario.clock.schedule(1.5 * TAKES_MS, what),
        ),
      fresh: ['node-01', 'node-02'],
    },
    'while its agent starts': {
      at: (scenario, what) =>
        when(
          scenario,
          () => newOn(scenario).includes('node-03'),
          () => void scenario.clock.schedule(1, what),
        ),
      fresh: ['node-01', 'node-02', 'node-03'],
    },
    'while --after-node is at work': {
      at: (scenario, what) =>
        when(
          scenario,
          () => isNewAndReady(scenario, 'node-03'),
          () => void scenario.clock.schedule(TAKES_MS / 2, what),
        ),
      fresh: ['node-01', 'node-02', 'node-03'],
    },
  };

const WHAT: Readonly<Record<string, (scenario: Scenario) => void>> = {
  'a node joins': ({ cluster }) => void cluster.nodes.add(1),
  'a node joins whose agent crashes': ({ cluster }) => {
    cluster.nodes.add(1);
    cluster.nodes.fault(JOINED, 'crash-loop');
  },
  'the node is cordoned': (scenario) => cordon(scenario, 'node-03'),
  'another node is cordoned': (scenario) => cordon(scenario, 'node-05'),
  'the node disappears': (scenario) => removeNode(scenario, 'node-03'),
  'another node disappears': (scenario) => removeNode(scenario, 'node-05'),
  'the next agent is to crash': (scenario) => {
    const next = ['node-03', 'node-04'].find((node) => !newOn(scenario).includes(node)) ?? assert.fail('none is old');
    scenario.cluster.nodes.fault(next, 'crash-loop');
  },
};

function cordon({ cluster: { store } }: Scenario, name: string): void {
  const node = store.get(K.Node, name) ?? assert.fail(name);
  store.update(K.Node, { ...node, spec: { ...(node.spec as object), unschedulable: true } } as KubeObject);
}

/** What is new where an agent crashes: those before it, and itself. */
function failedEnd(what: string, fresh: readonly string[]): readonly string[] | undefined {
  if (what === 'a node joins whose agent crashes') return [...fresh, JOINED];
  return what === 'the next agent is to crash' ? [...fresh, `node-0${fresh.length + 1}`] : undefined;
}

/** Behind a canary this program replaces the rest itself as well. */
const RUNS: Readonly<Record<string, Flags>> = {
  'all of them': HOOKS,
  'the rest, after a canary': { ...HOOKS, canary: 'node-02', soak: '1m' },
};

for (const [which, flags] of Object.entries(RUNS))
  describe(`nodes that change while commands are run around each: ${which}`, function () {
    this.timeout(120_000);
    for (const [phase, { at, fresh }] of Object.entries(PHASES))
      for (const [what, change] of Object.entries(WHAT))
        it(`${what}, ${phase}`, async () => {
          const scenario = await installedSandbox({ nodes: 5 });
          let begun: readonly string[] | undefined;
          at(scenario, () => {
            begun = newOn(scenario);
            change(scenario);
          });
          const strangers: string[] = [];
          const prepared = new Set([JOINED]);
          scenario.cluster.store.listen(({ kind }) => {
            if (kind.plural === K.Pod.plural) strangers.push(...newOn(scenario).filter((node) => !prepared.has(node)));
          });
          const says = (call: string) => {
            const [name, node = ''] = call.split(' ');
            if (name === 'before-node') prepared.add(node);
            return undefined;
          };
          const { exit, message, steps } = await hooked(scenario, flags, says, { takesMs: TAKES_MS });
          assert.deepEqual([begun, strangers], [fresh, []], message);
          const failed = failedEnd(what, fresh);
          await scenario.clock.sleep(3_600_000);
          const ends = failed ? ['stopped', failed, HELD] : ['done', allNodes(scenario), ROLLING];
          assert.deepEqual([exit, newOn(scenario), strategy(scenario)], ends, `${message}\n${steps.join('\n')}`);
        });
  });

describe('nodes that change in the second soak, after Typha', function () {
  this.timeout(120_000);
  for (const [what, change] of Object.entries(WHAT)) {
    if (what === 'the next agent is to crash') continue;
    it(what, async () => {
      const { scenario, profile } = await groundOf('typha');
      scenario.cluster.nodes.add(3);
      await scenario.clock.sleep(60_000);
      const observe: Observer = (event) => {
        if (event.type === 'action-started' && event.action.id === 'soak-typha') scenario.clock.schedule(60_000, () => change(scenario));
      };
      const { exit, message } = await performIn(scenario, [applyStage], { canary: 'node-03', soak: '30m' }, { profile, observe });
      const { controllers, fresh, typha } = momentOf(scenario, profile);
      const crashes = what === 'a node joins whose agent crashes';
      assert.deepEqual(
        [exit, fresh, typha, controllers],
        [crashes ? 'stopped' : 'done', allNodes(scenario), 'new', crashes ? 'old' : 'new'],
        message,
      );
      if (crashes) assert.match(message ?? '', /^1 pod failed, .*node-06/);
    });
  }
});

const REF = { apiVersion: 'apps/v1', kind: 'DaemonSet', ...AGENTS };
const UNMARK = { op: 'remove', path: '/metadata/annotations/netsvc-upgrade~1strategy' } as const;
const set = (value: unknown) => ({ op: 'replace', path: '/spec/updateStrategy', value }) as const;

const THREE = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 3 } };
/** What somebody writes, how a run of all agents ends, and what the strategy is then. */
const EDITS = {
  RollingUpdate: { patch: [set(ROLLING)], exit: 'done', stays: ROLLING },
  'RollingUpdate, without the annotation': { patch: [set(ROLLING), UNMARK], exit: 'done', stays: ROLLING },
  // The release would write over it: that is for its user to decide.
  'a number of their own': { patch: [set(THREE)], exit: 'conflicts', stays: THREE },
  'the annotation alone': { patch: [UNMARK], exit: 'done', stays: ROLLING },
} as const;

describe('a strategy that somebody changes between --before-node and the deletion', function () {
  this.timeout(120_000);
  const runs = { ...RUNS, 'a canary that stops': { ...HOOKS, canary: 'node-03' } };
  for (const [which, flags] of Object.entries(runs))
    for (const [what, { patch, exit, stays }] of Object.entries(EDITS))
      it(`${what}: ${which}`, async () => {
        const scenario = await installedSandbox({ nodes: 5 });
        let edit: Promise<unknown> | undefined;
        const prepared = new Set<string>();
        const strangers: string[] = [];
        scenario.cluster.store.listen(() => strangers.push(...newOn(scenario).filter((node) => !prepared.has(node))));
        const says = (call: string) => {
          const [name, node = ''] = call.split(' ');
          if (name === 'before-node') prepared.add(node);
          if (call === 'before-node node-03') edit ??= scenario.cluster.patch(K.DaemonSet, REF, patch, 'kubectl-edit');
          return undefined;
        };
        const ended = await hooked(scenario, flags, says, { takesMs: TAKES_MS });
        await edit;
        // Beside the strategy of its user the DaemonSet may go on by itself; by then the run has ended.
        assert.deepEqual(strangers, []);
        assert.match(ended.warned.join(), /--before-node was run for node-03, whose agent this run did not replace/);
        const whole = exit === 'done' ? allNodes(scenario) : ['node-01', 'node-02'];
        const isCanary = which === 'a canary that stops';
        assert.deepEqual([ended.exit, newOn(scenario)], isCanary ? ['stopped', ['node-03']] : [exit, whole], ended.message);
        if (isCanary) assert.equal((strategy(scenario) as { readonly type: string }).type, 'OnDelete');
        else assert.deepEqual(strategy(scenario), stays);
      });

  it('does not end a canary that is held, where only the annotation was removed', async () => {
    const scenario = await installedSandbox({ nodes: 5 });
    const run = () => performIn(scenario, [applyStage], { canary: 'node-03' }, { profile: waved });
    await run();
    await scenario.cluster.patch(K.DaemonSet, REF, [UNMARK], 'kubectl-edit');
    const { exit, message } = await run();
    await scenario.clock.sleep(3_600_000);
    assert.deepEqual([exit, newOn(scenario), strategy(scenario)], ['stopped', ['node-03'], HELD], message);
  });

  for (const flags of [{}, { 'max-unavailable': '2' }])
    it(`is no end of a canary that failed, where only the annotation was removed: a run with ${JSON.stringify(flags)}`, async () => {
      const scenario = await installedSandbox({ nodes: 5 });
      const run = (more: Flags) => performIn(scenario, [applyStage], more, { profile: waved });
      scenario.cluster.nodes.fault('node-03', 'crash-loop');
      assert.equal((await run({ canary: 'node-03' })).exit, 'stopped');
      await scenario.cluster.patch(K.DaemonSet, REF, [UNMARK], 'kubectl-edit');
      const { exit, message } = await run(flags);
      await scenario.clock.sleep(3_600_000);
      assert.deepEqual([exit, newOn(scenario), strategy(scenario)], ['stopped', ['node-03'], HELD], message);
      scenario.cluster.nodes.fault('node-03', 'none');
      assert.deepEqual([(await run(flags)).exit, newOn(scenario), strategy(scenario)], ['done', allNodes(scenario), ROLLING]);
    });
});
