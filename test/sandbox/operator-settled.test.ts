import assert from 'node:assert/strict';
import { usualChain } from '../../src/features/chain.ts';
import { upgradeWaits } from '../../src/features/install/around.ts';
import { permissionsOf } from '../../src/features/permissions.ts';
import { operatorScope } from '../../src/features/rights/role-scopes.ts';
import { readInstalled } from '../../src/features/survey/index.ts';
import type { Observer } from '../../src/kernel/event.ts';
import { interruptionOf } from '../../src/kernel/interruption.ts';
import { K } from '../../src/kernel/kinds.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import { allowedBy, guardedCluster } from '../support/guarded-cluster.ts';
import { type Manner, type OperatedSandbox, operatedSandbox, runsOf } from '../support/netsvc-operator-sandbox.ts';
import { contextIn, type Flags, performIn, sandboxPorts } from '../support/sandbox-ports.ts';
import { NETSVC_TARGET, pattern } from '../support/target.ts';

const HELD_MS = 60_000;
const SKIP = { skip: ['cli'] } as const;

/** A whole run; the operator's manner, and how the wait ended, in which each list takes so long. */
async function upgraded(manner: Manner, flags: Flags = SKIP, listMs = 0) {
  const sandbox = await operatedSandbox(manner);
  const { clock } = sandbox.scenario;
  let [isWaiting, waited] = [false, 0];
  const observe: Observer = (event) => {
    if (!('action' in event) || event.action.id !== 'operator' || event.stage !== 'wait') return;
    isWaiting = event.type === 'action-started';
    if (event.type === 'action-done') waited = clock.now().getTime();
  };
  const ports = sandboxPorts(sandbox.scenario);
  const list: typeof ports.cluster.list = async (...asked) => {
    if (isWaiting) await clock.sleep(listMs);
    return ports.cluster.list(...asked);
  };
  const outcome = await performIn(sandbox.scenario, usualChain, flags, {
    observe,
    ports: { ...ports, cluster: { ...ports.cluster, list } },
  });
  return { sandbox, outcome, waited };
}

const manners: Readonly<Record<string, Manner>> = {
  'acts soon': {},
  'does nothing for 45 s': { idleMs: 45_000 },
  'does the controllers a minute after the agents, and the API server last': { apartMs: 60_000 },
  'rolls the agents twice': { againMs: 75_000 },
  'crashes again and again before it acts': { crashes: 3, idleMs: 45_000 },
  'leaves an old pod of its own that stops slowly': { lingering: { of: 'netsvc-operator', ms: 150_000 } },
  'leaves an old pod of the controllers that stops slowly': { lingering: { of: 'netsvc-kube-controllers', ms: 150_000 } },
  'finds the images of the target already': { isThere: true },
};

describe('an operator whose profile names no statuses, on the sandbox', () => {
  for (const [how, manner] of Object.entries(manners))
    it(`is not done early where it ${how}`, async () => {
      const { sandbox, outcome, waited } = await upgraded(manner);
      assert.deepEqual([outcome.exit, outcome.message], ['done', undefined]);
      assert.deepEqual(runsOf(sandbox), [NETSVC_TARGET]);
      const last = Math.max(sandbox.changedAt(), sandbox.readyAt());
      assert.ok(last > 0 && waited - last >= HELD_MS, `it ended ${waited - last} ms after the last change`);
      assert.ok(waited - last < 3 * HELD_MS, `it ended only ${waited - last} ms after the last change`);
    });

  it('is done soon after it has held where each look takes seconds', async () => {
    const { sandbox, outcome, waited } = await upgraded({}, SKIP, 1_000);
    assert.equal(outcome.exit, 'done');
    const held = waited - Math.max(sandbox.changedAt(), sandbox.readyAt());
    assert.ok(held >= HELD_MS && held < 1.5 * HELD_MS, `it ended ${held} ms after the last change`);
  });

  it('is waited for only so long, with its pods and its log named, and the same run ends once it acts', async () => {
    const { sandbox, outcome } = await upgraded({ isDead: true }, { ...SKIP, timeout: '3m' });
    assert.equal(outcome.exit, 'timeout');
    assert.match(
      `${outcome.message}`,
      pattern`^the operator is not done after 180 s: DaemonSet/netsvc-system/netsvc-node: runs \S+:v3\.26\.4, not ${NETSVC_TARGET}`,
    );
    sandbox.acts();
    assert.equal((await performIn(sandbox.scenario, usualChain, SKIP)).exit, 'done');
    assert.deepEqual(runsOf(sandbox), [NETSVC_TARGET]);
  });

  it('says that nothing shows whether it acted, where all components were of the target before it started', async () => {
    for (const [manner, isTold] of [
      [{ isThere: true }, true],
      [{}, false],
    ] as const) {
      const { sandbox } = await upgraded(manner);
      const told = sandbox.scenario.state.record?.stages.find(({ id }) => id === 'wait');
      assert.equal(/nothing shows whether it acted/.test(JSON.stringify(told)), isTold, JSON.stringify(told));
    }
  });

  it('ends by the same rule where the run was killed at any tenth write, or in the middle of the wait', async function () {
    this.timeout(240_000);
    const whole = await upgraded({});
    const { writes } = whole.sandbox.scenario.cluster.faults;
    for (let at = 3; at <= writes; at += 10) {
      const sandbox = await operatedSandbox();
      sandbox.scenario.cluster.faults.plan({ at, kill: at % 20 < 10 ? 'before' : 'after' });
      await performIn(sandbox.scenario, usualChain, SKIP).catch(() => undefined);
      assert.ok(sandbox.scenario.cluster.faults.killed, `${at} of ${writes}`);
      await endsByTheRule(sandbox, `killed at write ${at}`);
    }
    const sandbox = await operatedSandbox({ apartMs: 60_000 });
    const isOver = new AbortController();
    const ports = sandboxPorts(sandbox.scenario, { interruption: interruptionOf(isOver.signal, isOver.signal) });
    sandbox.scenario.clock.schedule(90_000, () => isOver.abort());
    assert.equal((await performIn(sandbox.scenario, usualChain, SKIP, { ports })).exit, 'interrupted');
    await endsByTheRule(sandbox, 'stopped in the wait');
  });

  it('lets owner references go back only once all of it has held as long', async () => {
    const { sandbox } = await upgraded({});
    const { scenario } = sandbox;
    const waits = async () => {
      const [sources, context] = [sandboxPorts(scenario), contextIn(scenario, {})];
      const found = await upgradeWaits(sources, context, await readInstalled(sources, context));
      return found.map(({ until }) => until.type);
    };
    assert.deepEqual(await waits(), []);
    const [pod = assert.fail()] = scenario.cluster.store.list(K.Pod).filter(({ metadata }) => metadata.namespace === 'netsvc-operator');
    scenario.cluster.store.markDeleted(K.Pod, pod);
    await scenario.clock.sleep(40_000);
    assert.deepEqual(await waits(), ['operator-settled']);
    await scenario.clock.sleep(60_000);
    assert.deepEqual(await waits(), []);
  });

  it('asks for no right that the role of its path has not', async () => {
    const sandbox = await operatedSandbox();
    const ports = sandboxPorts(sandbox.scenario);
    const permissions = permissionsOf('run', netsvc, operatorScope(netsvc));
    const { cluster, denied } = guardedCluster(ports.cluster, allowedBy(permissions));
    const outcome = await performIn(sandbox.scenario, usualChain, SKIP, { ports: { ...ports, cluster } });
    assert.deepEqual([[...denied], outcome.exit, outcome.message], [[], 'done', undefined]);
  });
});

async function endsByTheRule(sandbox: OperatedSandbox, what: string): Promise<void> {
  const { clock } = sandbox.scenario;
  const outcome = await performIn(sandbox.scenario, usualChain, SKIP);
  assert.deepEqual([outcome.exit, outcome.message], ['done', undefined], what);
  assert.deepEqual(runsOf(sandbox), [NETSVC_TARGET], what);
  assert.ok(clock.now().getTime() - sandbox.changedAt() >= HELD_MS, what);
}
