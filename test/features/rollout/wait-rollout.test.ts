import assert from 'node:assert/strict';
import { type DriverView, type WaitRequest, waitRollout } from '../../../src/features/rollout/effects.ts';
import { Board } from '../../../src/features/rollout/rollout-board.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import type { Kind, KubeObject } from '../../../src/kernel/object.ts';
import type { Clock, ClusterReader, WatchUpdate } from '../../../src/kernel/ports.ts';
import type { PodProgress, RolloutProgress, RolloutTarget } from '../../../src/kernel/rollout.ts';
import { podFacts } from '../../../src/kube/pod-facts.ts';
import { NETSVC_TARGET } from '../../support/target.ts';

const NEW = `r/node:${NETSVC_TARGET}`;
const target: RolloutTarget = {
  kind: 'DaemonSet',
  namespace: 'kube-system',
  name: 'agent',
  container: 'agent',
  image: NEW,
  ready: { type: 'all-containers' },
};

function agents(ready: number, desired = 2): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'agent', namespace: 'kube-system', generation: 2 },
    spec: { selector: { matchLabels: { app: 'agent' } }, template: { spec: { containers: [{ name: 'agent', image: NEW }] } } },
    status: {
      observedGeneration: 2,
      desiredNumberScheduled: desired,
      updatedNumberScheduled: desired,
      numberReady: ready,
      numberAvailable: ready,
    },
  };
}

function pod(name: string, ready: boolean, waiting?: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'kube-system', uid: name },
    spec: { nodeName: name, containers: [{ name: 'agent', image: NEW }] },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
      containerStatuses: [{ name: 'agent', ready, ...(waiting ? { state: { waiting: { reason: waiting } } } : {}) }],
    },
  };
}

type Script = Record<string, readonly (readonly WatchUpdate[])[]>;

/** A cluster whose watches deliver one batch per turn of the virtual clock. */
function scriptedCluster(script: Script, setBy = 0) {
  let now = 0;
  let steps = 0;
  const turns: (() => void)[] = [];
  const clock: Clock = {
    now: () => new Date(now),
    async sleep(ms) {
      steps += 1;
      now += steps === 3 ? ms + setBy : ms;
      for (const turn of turns.splice(0)) turn();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
  const cluster = {
    get: async () => agents(0),
    async *watch(kind: Kind, { signal }: { signal: AbortSignal }) {
      for (const batch of script[kind.plural] ?? [[{ type: 'snapshot', items: [] }]]) {
        yield* batch;
        if (signal.aborted) return;
        await new Promise<void>((resolve) => turns.push(resolve));
      }
      if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    },
  } as unknown as ClusterReader;
  return { clock, cluster };
}

const snapshot = (...items: KubeObject[]): WatchUpdate => ({ type: 'snapshot', items });
const changed = (object: KubeObject): WatchUpdate => ({ type: 'changed', object });

/** `setBy`: milliseconds by which somebody sets the clock while it waits. */
async function wait(script: Script, options: Partial<Omit<WaitRequest, 'targets'>> = {}, setBy = 0) {
  const { cluster, clock } = scriptedCluster(script, setBy);
  const seen: boolean[] = [];
  const result = await waitRollout(cluster, clock, {
    maxFailed: 0,
    timeoutMs: 600_000,
    signal: new AbortController().signal,
    ...options,
    targets: [target],
    onProgress(progress, elapsedMs) {
      seen.push(progress.every((one) => one.done));
      options.onProgress?.(progress, elapsedMs);
    },
  });
  return { result, seen };
}

const code = (expected: string, text: RegExp) => (thrown: unknown) =>
  thrown instanceof Fault && thrown.code === expected && text.test(thrown.message);

describe('waitRollout', () => {
  it('judges a change at once where nothing had changed for a while, and many pods no more than ten times a second', async () => {
    const settled = async (pods: number, waits: readonly number[]) => {
      let now = 0;
      const settles: number[] = [];
      const clock: Clock = {
        now: () => new Date(now),
        sleep: (ms, signal) => {
          if (ms === 1000) return new Promise((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));
          settles.push(ms);
          return Promise.resolve();
        },
      };
      const board = new Board([target]);
      for (let index = 0; index < pods; index += 1) board.pods.get(target)?.set(`${index}`, podFacts(pod(`${index}`, true)));
      for (const after of waits) {
        const change = board.change(clock, new AbortController().signal);
        now += after;
        board.touch();
        await change;
      }
      return settles;
    };
    assert.deepEqual(await settled(2000, [500, 20, 100, 99, -60_000]), [80, 1, 100]);
    assert.deepEqual(await settled(300, [29, 30]), [1]);
    assert.deepEqual(await settled(5, [4, 10]), [6]);
  });

  it('evaluates nothing anew while nothing comes in, unless a pod has been at it for a time that is told', () => {
    const board = new Board([target]);
    board.workloads.set('DaemonSet/kube-system/agent', agents(2));
    board.pods.get(target)?.set('a', podFacts(pod('a', true)));
    const first = board.progress(0);
    assert.equal(board.progress(1000), first);
    board.pods.get(target)?.set('b', podFacts(pod('b', false)));
    board.touch();
    const second = board.progress(2000);
    assert.notEqual(second, first);
    assert.equal(second?.[0]?.pods[0], first?.[0]?.pods[0]);
    assert.notEqual(board.progress(3000), second);
  });

  it('returns as soon as the watches show every pod new and ready', async () => {
    const { result, seen } = await wait({
      daemonsets: [[snapshot(agents(1))], [changed(agents(2))]],
      pods: [[snapshot(pod('a', true), pod('b', false))], [changed(pod('b', true))]],
    });
    assert.equal(result[0]?.done, true);
    assert.equal(seen[0], false);
    assert.equal(seen.at(-1), true);
  });

  it('forgets pods that a later snapshot no longer holds', async () => {
    const { result } = await wait({
      daemonsets: [[snapshot(agents(2))]],
      pods: [[snapshot(pod('a', true), pod('b', true), pod('stray', false))], [snapshot(pod('a', true), pod('b', true))]],
    });
    assert.equal(result[0]?.pods.length, 2);
  });

  it('times out with the laggards and their reasons', async () => {
    const script = { daemonsets: [[snapshot(agents(1))]], pods: [[snapshot(pod('a', true), pod('b', false))]] };
    await assert.rejects(wait(script, { timeoutMs: 5_000 }), (thrown: Fault) => {
      assert.ok(code('timeout', /b: not ready/)(thrown));
      assert.match(thrown.suggestions[0] ?? '', /^see why: kubectl -n \S+ describe pod \S+$/);
      return true;
    });
  });

  it('stops where a new pod gets no network on a node whose agent is new and ready', async () => {
    const at = (seconds: number) => new Date(1_000_000 + seconds * 1000).toISOString();
    const ready = pod('a', true);
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: at(0) }];
    const agent = { ...ready, status: { ...(ready.status as object), conditions } };
    const { cluster, clock } = scriptedCluster({ daemonsets: [[snapshot(agents(1))]], pods: [[snapshot(agent, pod('b', false))]] });
    const involvedObject = { namespace: 'shop', name: 'web' };
    const event = { message: 'plugin failed', lastTimestamp: at(60), source: { host: 'a' }, involvedObject };
    const waiting = { metadata: { name: 'web', creationTimestamp: at(1) }, spec: { nodeName: 'a' }, status: { phase: 'Pending' } };
    const raw = async (path: string) => JSON.stringify({ items: [path.includes('/events?') ? event : waiting] });
    const request = { targets: [target], maxFailed: 0, timeoutMs: 60_000, signal: new AbortController().signal, onProgress() {} };
    const network = { ...cluster, raw } as ClusterReader;
    await assert.rejects(waitRollout(network, clock, request), code('stopped', /a: shop\/web: plugin failed/));
  });

  it('does not ask for a longer wait where the release is not applied: the run applies it', async () => {
    const old = agents(2);
    const spec = { ...(old.spec as object), template: { spec: { containers: [{ name: 'agent', image: 'r/node:v9' }] } } };
    const script = { daemonsets: [[snapshot({ ...old, spec })]], pods: [[snapshot(pod('a', true), pod('b', true))]] };
    await assert.rejects(wait(script, { timeoutMs: 5_000 }), (thrown: Fault) => {
      assert.ok(code('timeout', /is still set to r\/node:v9/)(thrown));
      assert.match(thrown.suggestions.at(-1) ?? '', /: kubectl netsvc-upgrade run$/);
      assert.doesNotMatch(thrown.suggestions.join('\n'), /--timeout/);
      return true;
    });
  });

  it('stops for a person when more pods than allowed stay failed', async () => {
    const script = { daemonsets: [[snapshot(agents(1))]], pods: [[snapshot(pod('a', true), pod('b', false, 'CrashLoopBackOff'))]] };
    await assert.rejects(wait(script), code('stopped', /CrashLoopBackOff/));
  });

  it('offers to tolerate failed pods only where the DaemonSet rolls on without them', async () => {
    const offer = async (updateStrategy: object, phases: readonly string[]) => {
      const workload = agents(1, phases.length);
      const daemonset = { ...workload, spec: { ...(workload.spec as object), updateStrategy } };
      const pods = phases.map((phase, index) => {
        const one = pod(`n${index}`, phase !== 'failed', phase === 'failed' ? 'CrashLoopBackOff' : undefined);
        return phase === 'old' ? { ...one, spec: { nodeName: `n${index}`, containers: [{ name: 'agent', image: 'r/node:v1' }] } } : one;
      });
      const thrown = await wait({ daemonsets: [[snapshot(daemonset)]], pods: [[snapshot(...pods)]] }).catch((fault: Fault) => fault);
      assert.ok(thrown instanceof Fault);
      return thrown.suggestions.find((one) => one.startsWith('or let '));
    };
    const of = (maxUnavailable: number | string) => ({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable } });
    const text = 'or let the rollout continue on other nodes meanwhile: run the same command again with --max-failed=1';
    assert.equal(await offer(of(2), ['failed', 'old', 'old']), text);
    assert.equal(await offer(of('50%'), ['failed', 'old', 'old']), text);
    assert.equal(await offer(of(1), ['failed', 'old', 'old']), undefined, 'used up');
    assert.equal(await offer(of(2), ['failed', 'new', 'new']), undefined, 'nothing is left to roll');
    assert.equal(await offer({ type: 'OnDelete' }, ['failed', 'old', 'old']), undefined);
  });

  it('goes on over a failed pod within the failure budget', async () => {
    const script = { daemonsets: [[snapshot(agents(1))]], pods: [[snapshot(pod('a', true), pod('b', false, 'CrashLoopBackOff'))]] };
    await assert.rejects(wait(script, { maxFailed: 1, timeoutMs: 60_000 }), code('timeout', /CrashLoopBackOff/));
  });

  describe('that may leave failed pods behind', () => {
    const broken = (name: string) => pod(name, false, 'CrashLoopBackOff');
    const script = { daemonsets: [[snapshot(agents(1))]], pods: [[snapshot(pod('a', true), broken('b'))]] };

    it('ends without them once nothing else is left, and says so', async () => {
      const leftBehind = new Set<string>();
      const { result } = await wait(script, { maxFailed: 1, leftBehind });
      assert.deepEqual([result[0]?.done, [...leftBehind]], [false, ['kube-system/b']]);
    });

    it('counts those of earlier waits, the same pod once', async () => {
      await assert.rejects(wait(script, { maxFailed: 1, leftBehind: new Set(['shop/b']) }), code('stopped', /^2 pods failed/));
      const again = await wait(script, { maxFailed: 1, leftBehind: new Set(['kube-system/b']) });
      assert.equal(again.result[0]?.done, false);
    });

    it('waits for a pod that is on its way', async () => {
      const { result } = await wait(
        {
          daemonsets: [[snapshot(agents(1, 3))]],
          pods: [
            [snapshot(pod('a', true), broken('b'), pod('c', false))],
            ...Array.from({ length: 50 }, () => []),
            [changed(pod('c', true))],
          ],
        },
        { maxFailed: 1, leftBehind: new Set() },
      );
      assert.deepEqual(
        result[0]?.pods.map(({ phase }) => phase),
        ['new', 'failed', 'new'],
      );
    });

    it('stops as ever over more than are tolerated', async () => {
      await assert.rejects(wait(script, { leftBehind: new Set() }), (thrown: Fault) => {
        assert.equal(
          thrown.suggestions.at(-1),
          'or continue with the other workloads meanwhile: run the same command again with --max-failed=1',
        );
        return code('stopped', /^1 pod failed, more than --max-failed=0/)(thrown);
      });
    });

    it('names pod and namespace, and a command that shows why', async () => {
      const thrown = (await wait(script, { leftBehind: new Set() }).catch((one: unknown) => one)) as Fault;
      assert.match(thrown.message, /: kube-system\/\S+: /);
      assert.ok(thrown.suggestions.some((one) => /^with iptables or nftables, .*; new pods on .* get no network/.test(one)));
      assert.match(thrown.suggestions[0] ?? '', /^see why: kubectl -n kube-system (?:describe pod \S+|logs \S+ -c \S+ --previous)$/);
    });
  });

  it('forgives a pod that failed for a moment', async () => {
    const { result } = await wait({
      daemonsets: [[snapshot(agents(1))], [changed(agents(2))]],
      pods: [[snapshot(pod('a', true), pod('b', false, 'ErrImagePull'))], [changed(pod('b', true))]],
    });
    assert.equal(result[0]?.done, true);
  });

  it('judges anew only what changed, and a node that went down in spite of its unchanged pod', async () => {
    const node = (name: string, ready: string, heartbeat: string): KubeObject => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, resourceVersion: heartbeat },
      status: { conditions: [{ type: 'Ready', status: ready, reason: 'Said', lastHeartbeatTime: heartbeat }] },
    });
    const old = (name: string): KubeObject => ({
      ...pod(name, true),
      spec: { nodeName: name, containers: [{ name: 'agent', image: 'r/node:v1' }] },
    });
    const looks: (readonly PodProgress[])[] = [];
    const onProgress = (progress: readonly RolloutProgress[]) => looks.push(progress[0]?.pods ?? []);
    await wait(
      {
        nodes: [
          [snapshot(node('a', 'True', '1'), node('b', 'True', '1'))],
          [changed(node('a', 'True', '2')), changed(node('b', 'False', '2'))],
          [],
          [],
        ],
        daemonsets: [[snapshot(agents(1))], [], [], [changed(agents(2))]],
        pods: [[snapshot(old('a'), old('b'))], [], [], [changed(pod('a', true)), changed(pod('b', true))]],
      },
      { onProgress },
    );
    const first = looks[0] ?? [];
    const down = looks.find((pods) => pods[1]?.why === 'node is not ready (Said)') ?? [];
    assert.deepEqual([first[0]?.why, first[1]?.why], ['next', 'next']);
    assert.equal(down[0], first[0]);
  });

  const HOUR = 3_600_000;
  for (const [title, setBy] of [
    ['forward', HOUR],
    ['back', -HOUR],
  ] as const) {
    it(`keeps its time limit when the clock is set ${title} by an hour`, async () => {
      const waited: number[] = [];
      const script = { daemonsets: [[snapshot(agents(1))]], pods: [[snapshot(pod('a', true), pod('b', false))]] };
      const options = { timeoutMs: 60_000, onProgress: (_: unknown, elapsedMs: number) => void waited.push(elapsedMs) };
      await assert.rejects(wait(script, options, setBy), code('timeout', /b: not ready/));
      assert.ok(waited.length > 40 && waited.length < 80, `${waited.length} looks in a minute`);
    });
  }

  it('does not take a pod for failed for good because the clock was set', async () => {
    const script = {
      daemonsets: [[snapshot(agents(1))], [], [], [], [], [], [], [], [changed(agents(2))]],
      pods: [[snapshot(pod('a', true), pod('b', false, 'ErrImagePull'))], [], [], [], [], [], [], [], [changed(pod('b', true))]],
    };
    assert.equal((await wait(script, {}, HOUR)).result[0]?.done, true);
  });

  it('asks for no old pod before the controller has seen the template: one that is back has pods already', async () => {
    const of = (name: string, revision: string): KubeObject => {
      const { metadata, ...rest } = pod(name, true);
      const labels = { 'pod-template-generation': revision.slice(0, 1), 'controller-revision-hash': revision.slice(1) };
      return { ...rest, metadata: { ...metadata, labels } } as KubeObject;
    };
    const set = (observedGeneration: number, updatedNumberScheduled: number): KubeObject => {
      const { metadata, status, ...rest } = agents(3, 3);
      const annotations = { 'deprecated.daemonset.template.generation': '3' };
      return {
        ...rest,
        metadata: { ...metadata, annotations },
        status: { ...(status as object), observedGeneration, updatedNumberScheduled },
      } as KubeObject;
    };
    const asked: (readonly string[])[] = [];
    const driver = {
      ...{ nodes: [], waitsFor: undefined },
      next: async (look: () => DriverView) => {
        asked.push(look().old.map(({ name }) => name));
        return false;
      },
    };
    const nodes = ['a', 'b', 'c'].map((name) => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    }));
    const script = {
      nodes: [[snapshot(...nodes)]],
      daemonsets: [[snapshot(set(1, 1))], [], [changed(set(2, 2))]],
      pods: [[snapshot(of('a', '1x'), of('b', '2y'), of('c', '1x'))]],
    };
    await wait(script, { driver });
    assert.deepEqual(asked, [['b']]);
  });

  it('says of new pods that are watched what is held, and a canary only where there is one', async () => {
    const restarted = pod('a', true);
    const { containerStatuses = [] } = restarted.status as { readonly containerStatuses?: readonly object[] };
    const status = { ...(restarted.status as object), containerStatuses: containerStatuses.map((one) => ({ ...one, restartCount: 1 })) };
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' }, status: { conditions: [{ type: 'Ready', status: 'True' }] } };
    const script = {
      nodes: [[snapshot(node)]],
      daemonsets: [[snapshot(agents(1, 1))]],
      // Of all agents only what restarts since the first look counts.
      pods: [[snapshot(restarted)], [changed({ ...restarted, status } as KubeObject)]],
    };
    const told = async (heldFor?: 'canary' | 'rest') => {
      const watched = { only: [], holdMs: 60_000, ...(heldFor ? { heldFor } : {}) };
      const thrown = await wait(script, watched).then(
        () => assert.fail('it came to its end'),
        (fault: Fault) => fault,
      );
      return `${thrown.message}\n${thrown.steps.map(({ text }) => text.plain).join('\n')}`;
    };
    const [canary, rest, rolled] = [await told('canary'), await told('rest'), await told()];
    assert.match(canary, /^the canary failed: 1 agent restarted since it was started: a: /);
    for (const one of [rest, rolled]) assert.match(one, /^1 agent restarted since it was started: a: /);
    for (const one of [canary, rest]) assert.match(one, /the update strategy stays OnDelete/);
    assert.doesNotMatch(rolled, /OnDelete/, 'after Typha nothing is held any more');
  });

  it('of all pods holds them for its time too: from the first again after a lapse, and no longer than its limit', async () => {
    const ready = (isReady: boolean) => [changed(pod('a', isReady))];
    const held = async (lapses: number, timeoutMs = 600_000) => {
      const moments = Array.from({ length: lapses }, () => [ready(false), ready(true)]).flat();
      const waited: number[] = [];
      const request = { holdMs: 5_000, timeoutMs, onProgress: (_: unknown, elapsedMs: number) => void waited.push(elapsedMs) };
      await wait({ daemonsets: [[snapshot(agents(1, 1))]], pods: [[snapshot(pod('a', true))], ...moments] }, request);
      return waited.at(-1) ?? 0;
    };
    const once = await held(0);
    assert.ok(once >= 5_000 && once < 7_000, String(once));
    assert.ok((await held(1)) > once);
    await assert.rejects(held(30, 10_000), code('timeout', /not complete after 10 s/));
  });

  it('ends at once when it is interrupted', async () => {
    const controller = new AbortController();
    controller.abort();
    const script = { daemonsets: [[snapshot(agents(1))]], pods: [[snapshot(pod('a', true))]] };
    await assert.rejects(wait(script, { signal: controller.signal }), code('interrupted', /stopped/));
  });

  it('gives no verdict before every watch has delivered its first snapshot', async () => {
    await assert.rejects(wait({ daemonsets: [[snapshot(agents(0, 0))]], pods: [[]] }, { timeoutMs: 3_000 }), code('timeout', /./));
  });
});
