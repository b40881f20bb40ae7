import assert from 'node:assert/strict';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import type { Observer } from '../../src/kernel/event.ts';
import { K } from '../../src/kernel/kinds.ts';
import { ApiFailure } from '../../src/kernel/ports.ts';
import { isPodReady } from '../../src/sandbox/pods-of.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import {
  AGENTS,
  agentPods,
  clockSetForward,
  newOn,
  ROLLING,
  restartAgent,
  setAgent,
  setImage,
  setVariable,
  strategy,
  waved,
  withVariable,
} from '../support/canary-sandbox.ts';
import { type Flags, installedSandbox, performIn, sandboxPorts } from '../support/sandbox-ports.ts';

/** A pod that its kubelet refused a network, as the server tells it. */
interface Refused {
  /** Virtual milliseconds after the canary is ready, until it has a network. */
  readonly until?: number;
  readonly node?: string;
  /** It was made so long after the new agent; before it where negative. */
  readonly madeAfter?: number;
  readonly hostNetwork?: boolean;
  readonly message?: string;
}

/** The server answers for events and pods of tenants as one of a cluster does; resolves to when the canary became ready. */
function tells(
  scenario: Scenario,
  { until = Number.POSITIVE_INFINITY, node = 'node-01', madeAfter = 1, hostNetwork, message }: Refused,
): void {
  const { cluster, clock } = scenario;
  const { raw } = cluster;
  const iso = (at: number) => new Date(at).toISOString();
  const agent = () =>
    agentPods(scenario).find((one) => newOn(scenario).includes('node-01') && JSON.stringify(one.spec).includes('"node-01"'));
  const pod = () => {
    const madeAt = Date.parse(agent()?.metadata.creationTimestamp ?? '') + madeAfter;
    const hasNetwork = clock.now().getTime() >= readyAt(scenario) + until;
    const status = hasNetwork ? { phase: 'Running', podIP: '10.0.0.9' } : { phase: 'Pending' };
    return {
      metadata: { name: 'web', namespace: 'shop', uid: 'u', creationTimestamp: iso(madeAt) },
      spec: { nodeName: node, hostNetwork },
      status,
    };
  };
  const event = () => ({
    ...{ reason: 'FailedCreatePodSandBox', message: `Failed to create pod sandbox: ${message ?? 'x509: unknown authority'}` },
    ...{ lastTimestamp: iso(readyAt(scenario)), source: { host: node } },
    involvedObject: { kind: 'Pod', namespace: 'shop', name: 'web', uid: 'u' },
  });
  Object.assign(cluster, {
    raw: async (path: string) => {
      if (path.includes('/events?')) return JSON.stringify({ items: agent() ? [event()] : [] });
      return path.includes('/namespaces/shop/pods?') ? JSON.stringify({ items: [pod()] }) : raw(path);
    },
  });
  cluster.store.listen(() => readyAt(scenario));
}

const seen = new WeakMap<Scenario, number>();
/** When the first new agent was ready; now, where none was. */
function readyAt(scenario: Scenario): number {
  const known = seen.get(scenario);
  if (known !== undefined) return known;
  const now = scenario.clock.now().getTime();
  const isReady = agentPods(scenario).some(
    (one) => newOn(scenario).includes('node-01') && JSON.stringify(one.spec).includes('"node-01"') && isPodReady(one),
  );
  if (isReady && newOn(scenario).length > 0) seen.set(scenario, now);
  return now;
}

async function stopped(scenario: Scenario, flags: Flags = {}, ports = sandboxPorts(scenario)) {
  const { exit, message = '', steps } = await performIn(scenario, [applyStage], { canary: '1', ...flags }, { profile: waved, ports });
  const tookMs = scenario.clock.now().getTime() - readyAt(scenario);
  return { exit, message, steps: steps.join('\n'), tookMs };
}

describe('new pods on the nodes of a canary that stops at once', () => {
  let scenario: Scenario;
  beforeEach(async () => {
    scenario = await installedSandbox({ nodes: 3 });
  });

  it('cost no time where none is known to have no network, and the screen says what was looked at', async () => {
    tells(scenario, { until: 0 });
    const { exit, message, steps, tookMs } = await stopped(scenario);
    assert.equal(exit, 'stopped');
    assert.match(message, /^the canary runs: /);
    assert.match(
      steps,
      /no new pod on node-01 is known to have no network; only pods that start there show it: kubectl get pods -A -o wide --field-selector spec\.nodeName=node-01/,
    );
    assert.ok(tookMs <= 2_000, `${tookMs} ms`);
  });

  it('fail it where one was refused a network and gets none', async () => {
    tells(scenario, {});
    const { exit, message, steps, tookMs } = await stopped(scenario);
    assert.equal(exit, 'stopped');
    assert.match(message, /^the canary failed: new pods get no network on a node whose agent is new and ready: node-01: shop\/web: .*x509/);
    assert.match(steps, /kubectl -n shop describe pod web[\s\S]*the update strategy stays OnDelete[\s\S]*kubectl cordon node-01/);
    assert.deepEqual([newOn(scenario), strategy(scenario)], [['node-01'], { type: 'OnDelete' }]);
    assert.ok(tookMs < 60_000, `${tookMs} ms`);
  });

  it('are waited for where one was refused while the agent was replaced, and gets it at the next try', async () => {
    tells(scenario, { until: 12_000 });
    const { message, tookMs } = await stopped(scenario);
    assert.match(message, /^the canary runs: /);
    assert.ok(tookMs >= 12_000 && tookMs < 18_000, `${tookMs} ms`);
  });

  it('are waited for as long where the clock is set forward meanwhile', async () => {
    tells(scenario, { until: 12_000 });
    const ports = { ...sandboxPorts(scenario), clock: clockSetForward(scenario, 5_000, () => seen.has(scenario)) };
    assert.match((await stopped(scenario, {}, ports)).message, /^the canary runs: /);
  });

  for (const soak of ['5s', '30s'])
    it(`fail it too where it is watched for no more than ${soak}`, async () => {
      tells(scenario, {});
      const { exit, message, steps } = await stopped(scenario, { soak });
      assert.equal(exit, 'stopped');
      assert.match(
        message,
        /^the canary failed: new pods get no network on a node whose agent is new and ready: node-01: shop\/web: .*x509/,
      );
      assert.match(steps, /the update strategy stays OnDelete/);
      assert.deepEqual([newOn(scenario), strategy(scenario)], [['node-01'], { type: 'OnDelete' }]);
    });

  for (const [what, happens, because] of [
    ['its agent restarts', restartAgent, /^the canary failed: 1 agent restarted since it was started: node-01: /],
    [
      'somebody changes the template',
      (one: Scenario) => setVariable(one, '1'),
      /^no agent has the template that DaemonSet kube-system\/netsvc-node has now/,
    ],
    ['somebody sets another image', setImage, /^no agent has the template that DaemonSet kube-system\/netsvc-node has now/],
  ] as const)
    it(`are waited for after the soak, and no other agent follows where ${what} meanwhile`, async () => {
      tells(scenario, { until: 12_000 });
      const observe: Observer = (event) => {
        if (event.type === 'action-started' && event.action.id === 'look-canary')
          scenario.clock.schedule(1_000, () => void happens(scenario));
      };
      const outcome = await performIn(scenario, [applyStage], { canary: '1', soak: '5s' }, { profile: waved, observe });
      assert.deepEqual([outcome.exit, newOn(scenario), strategy(scenario)], ['stopped', ['node-01'], { type: 'OnDelete' }]);
      assert.match(outcome.message ?? '', because);
    });

  it('are waited for after the soak, and no other agent follows where a chosen one fails meanwhile, whatever --max-failed says', async () => {
    const observe: Observer = (event) => {
      if (event.type === 'action-started' && event.action.id === 'look-canary') setAgent(scenario, 'node-01', 'not-ready');
    };
    const flags = { canary: '2', soak: '5s', 'max-failed': 1 };
    const outcome = await performIn(scenario, [applyStage], flags, { profile: waved, observe });
    assert.deepEqual([newOn(scenario), strategy(scenario)], [['node-01', 'node-02'], { type: 'OnDelete' }], outcome.message);
    assert.equal(outcome.exit, 'timeout');
    assert.match(outcome.message ?? '', /^not complete after 600 s: .*: not new and ready yet: node-01 /);
  });

  it('are seen in the soak itself where somebody changes the template, whose agents are ready as before', async () => {
    let began = 0;
    const observe: Observer = (event) => {
      if (event.type !== 'action-started' || event.action.id !== 'soak') return;
      began = scenario.clock.now().getTime();
      scenario.clock.schedule(60_000, () => void setVariable(scenario, '1'));
    };
    const outcome = await performIn(scenario, [applyStage], { canary: '1', soak: '30m' }, { profile: waved, observe });
    const tookMs = scenario.clock.now().getTime() - began;
    assert.match(outcome.message ?? '', /^no agent has the template that DaemonSet kube-system\/netsvc-node has now/);
    assert.deepEqual([outcome.exit, newOn(scenario), strategy(scenario)], ['stopped', ['node-01'], { type: 'OnDelete' }]);
    assert.ok(tookMs < 90_000, `${tookMs} ms`);
  });

  /** With each of them the others follow in another way. */
  for (const flags of [{}, { 'max-unavailable': '1' }, { 'max-unavailable': '2' }, { probe: './x' }, { 'before-node': './x' }] as const) {
    const first = { canary: '1', ...('probe' in flags || 'before-node' in flags ? flags : {}) };
    const run = (more: Flags) => {
      const commands = { run: () => scenario.clock.sleep(20).then(() => ({ durationMs: 20 })) };
      return performIn(scenario, [applyStage], more, { profile: waved, ports: sandboxPorts(scenario, { commands }) });
    };

    it(`are looked at before the others follow a canary that waited for the user: commit ${JSON.stringify(flags)}`, async () => {
      tells(scenario, { until: 0 });
      assert.match((await run(first)).message ?? '', /^the canary runs: /);
      await scenario.clock.sleep(600_000);
      tells(scenario, {});
      const outcome = await run(flags);
      assert.match(outcome.message ?? '', /^the canary failed: new pods get no network on .*: node-01: shop\/web: .*x509/);
      assert.deepEqual([outcome.exit, newOn(scenario), strategy(scenario)], ['stopped', ['node-01'], { type: 'OnDelete' }]);
      tells(scenario, { until: 0 });
      const { exit, message } = await run(flags);
      assert.deepEqual([exit, newOn(scenario).length, strategy(scenario)], ['done', 3, ROLLING], message);
    });

    it(`are not what alone is looked at: a template that somebody changed is tried first, commit ${JSON.stringify(flags)}`, async () => {
      await run(first);
      await setVariable(scenario, '1');
      const { exit, message } = await run(flags);
      assert.match(message ?? '', /^no agent has the template that DaemonSet kube-system\/netsvc-node has now/);
      assert.deepEqual([exit, withVariable(scenario), strategy(scenario)], ['stopped', [], { type: 'OnDelete' }]);
    });
  }

  it('are looked at also where somebody added a setting to the update strategy that has no effect', async () => {
    await stopped(scenario);
    const more = [{ op: 'add', path: '/spec/updateStrategy/rollingUpdate', value: { maxUnavailable: 3 } }] as const;
    await scenario.cluster.patch(K.DaemonSet, { apiVersion: 'apps/v1', kind: 'DaemonSet', ...AGENTS }, more, 'kubectl-patch');
    tells(scenario, {});
    const outcome = await performIn(scenario, [applyStage], { accept: ['NS-208'] }, { profile: waved });
    assert.match(outcome.message ?? '', /^the canary failed: new pods get no network/);
    assert.deepEqual(newOn(scenario), ['node-01']);
  });

  it('are looked at once more before the others follow, which costs less than a second', async () => {
    tells(scenario, { until: 0 });
    const begun = new Map<string, number>();
    const observe: Observer = (event) => {
      if (event.type === 'action-started') begun.set(event.action.id, scenario.clock.now().getTime());
    };
    const outcome = await performIn(scenario, [applyStage], { canary: '1', soak: '5s' }, { profile: waved, observe });
    assert.equal(outcome.exit, 'done', outcome.message);
    const [soak = 0, looked = 0, roll = 0] = ['soak', 'look-canary', 'roll-agents'].map((id) => begun.get(id));
    assert.ok(looked > soak && roll >= looked && roll - soak <= 6_000, [...begun].join());
  });

  for (const [title, refused] of Object.entries<Refused>({
    'is older than the agent': { madeAfter: -60_000 },
    'is of another node': { node: 'node-02' },
    'has the network of its node': { hostNetwork: true },
    'wants a runtime that the node lacks': { message: 'failed to get sandbox runtime: no runtime for "kata" is configured' },
    'lacks the image of its sandbox': { message: 'failed to get sandbox image "registry.k8s.io/pause:3.10": failed to pull image' },
  }))
    it(`say nothing of it where one ${title}`, async () => {
      tells(scenario, refused);
      const { message, tookMs } = await stopped(scenario);
      assert.match(message, /^the canary runs: /);
      assert.ok(tookMs <= 2_000, `${tookMs} ms`);
    });

  it('are named where they are within the number that is tolerated', async () => {
    tells(scenario, {});
    const { message, steps } = await stopped(scenario, { 'max-failed': 1 });
    assert.match(message, /^the canary runs: /);
    assert.match(steps, /accepted by --max-failed: new pods on node-01 get no network: kubectl -n shop describe pod web/);
  });

  const unseen: Readonly<Record<string, readonly [answer: () => Promise<string>, why: RegExp]>> = {
    'events cannot be read': [() => Promise.reject(new ApiFailure(403, 'Forbidden', 'events is forbidden')), /events is forbidden/],
    'the server takes its time': [() => new Promise(() => undefined), /took longer than 2 s/],
  };
  for (const [title, [answer, why]] of Object.entries(unseen))
    it(`are said not to have been looked at where ${title}`, async () => {
      const { raw } = scenario.cluster;
      Object.assign(scenario.cluster, { raw: (path: string) => (path.includes('/events?') ? answer() : raw(path)) });
      const { message, steps, tookMs } = await stopped(scenario);
      assert.match(message, /^the canary runs: /);
      assert.match(steps, /whether new pods on node-01 get a network was not seen/);
      assert.match(steps, why);
      assert.ok(tookMs <= 3_000, `${tookMs} ms`);
    });
});
