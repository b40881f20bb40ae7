import assert from 'node:assert/strict';
import { withoutNetwork } from '../../../src/features/rollout/failed-pods.ts';
import { PodEvents } from '../../../src/features/rollout/pod-events.ts';
import { Board } from '../../../src/features/rollout/rollout-board.ts';
import type { Fault } from '../../../src/kernel/fault.ts';
import { ApiFailure } from '../../../src/kernel/ports.ts';
import type { PodProgress, RolloutProgress, RolloutTarget } from '../../../src/kernel/rollout.ts';
import { podFacts } from '../../../src/kube/pod-facts.ts';

const target: RolloutTarget = {
  kind: 'DaemonSet',
  namespace: 'kube-system',
  name: 'agent',
  container: 'agent',
  image: 'r/node:v2',
  ready: { type: 'all-containers' },
};
const READY = Date.parse('2026-01-01T10:00:00Z');
const at = (seconds: number) => new Date(READY + seconds * 1000).toISOString();
const SAYS = `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "${'0'.repeat(64)}": plugin type="calico" failed (add): error getting ClusterInformation: Get "https://10.96.0.1:443/apis/crd.projectcalico.org/v1/clusterinformations/default": tls: failed to verify certificate: x509: certificate signed by unknown authority`;

const event = (seconds: number, more: object = {}) => ({
  reason: 'FailedCreatePodSandBox',
  message: SAYS,
  lastTimestamp: at(seconds),
  source: { component: 'kubelet', host: 'n1' },
  involvedObject: { kind: 'Pod', namespace: 'shop', name: 'web-1', uid: 'u1' },
  ...more,
});
const waiting = (status: object = { phase: 'Pending' }, metadata: object = {}) => ({
  metadata: { name: 'web-1', uid: 'u1', creationTimestamp: at(5), ...metadata },
  spec: { nodeName: 'n1' },
  status,
});

/** Events that the server gives at a time. */
const PAGE = 500;

/** One agent, ready since `READY`, and a server that answers with these. Resolves to what ended the wait. */
async function look(
  events: readonly object[] | number,
  pod: object | undefined | ((path: string) => object | undefined),
  options: { waited?: number; maxFailed?: number; phase?: 'new' | 'old'; isLast?: boolean } = {},
) {
  const board = new Board([target]);
  const agent = podFacts({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'agent-1', namespace: 'kube-system', uid: 'a', creationTimestamp: at(-10) },
    spec: { nodeName: 'n1', containers: [{ name: 'agent', image: 'r/node:v2' }] },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: at(0) }] },
  });
  board.pods.get(target)?.set('agent-1', agent);
  const paths: string[] = [];
  const raw = async (path: string) => {
    paths.push(path);
    if (typeof events === 'number') throw new ApiFailure(events, 'Refused', 'no');
    const [page = 0] = (/continue=(\d+)/.exec(path) ?? []).slice(1).map(Number);
    const more = (page + 1) * PAGE < events.length ? { continue: `${page + 1}` } : {};
    if (path.includes('/events?')) return JSON.stringify({ metadata: more, items: events.slice(page * PAGE, (page + 1) * PAGE) });
    const found = typeof pod === 'function' ? pod(path) : pod;
    return JSON.stringify({ items: found ? [found] : [] });
  };
  const pods = [{ node: 'n1', pod: 'agent-1', phase: options.phase ?? 'new', release: 'v2', ready: '1/1', why: '' }] as const;
  const next = { node: 'n2', pod: 'agent-2', phase: 'old', release: 'v1', ready: '1/1', why: 'next' } as const;
  const all = options.isLast === false ? [...pods, next] : pods;
  const progress: RolloutProgress[] = [{ target, desired: 2, pods: all, pending: 'more', done: false }];
  const network = new PodEvents({ raw }, board, { maxFailed: options.maxFailed ?? 0 });
  const again = async (waited: number) => {
    network.look(progress, waited);
    for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  await again(options.waited ?? 15_000);
  await again((options.waited ?? 15_000) + 15_000);
  let fault: Fault | undefined;
  try {
    board.progress(READY);
  } catch (thrown) {
    fault = thrown as Fault;
  }
  return { fault, paths };
}

describe('new pods on nodes whose agent is new', () => {
  it('that get no network stop the wait, with the words of the event and what it means', async () => {
    const { fault } = await look([event(25)], waiting());
    assert.equal(fault?.code, 'stopped');
    assert.match(
      fault.message,
      /n1: shop\/web-1: Failed to create pod sandbox: [^;]*…[^;]*: x509: certificate signed by unknown authority$/,
    );
    assert.equal(fault.suggestions[0], 'see why: kubectl -n shop describe pod web-1');
    assert.match(fault.suggestions[1] ?? '', /this means: the CNI plugin on this node does not trust the API server/);
    assert.deepEqual(fault.suggestions.slice(2), [
      withoutNetwork('n1').plain,
      'keep new pods off n1: kubectl cordon n1 (afterwards: kubectl uncordon n1)',
      'fix n1, then run the same command again: it resumes',
    ]);
  });

  it('are kept from further nodes with a command, as long as nodes are still to be rolled', async () => {
    const { fault } = await look([event(25)], waiting(), { isLast: false });
    assert.match(fault?.suggestions[3] ?? '', /kubectl -n kube-system patch daemonset agent --type=merge -p .*OnDelete/);
  });

  const passing: Readonly<Record<string, () => ReturnType<typeof look>>> = {
    'of the time before the agent was ready': () => look([event(-5), event(10)], waiting()),
    'of another node': () => look([event(25, { source: { host: 'n2' } })], waiting()),
    'of a pod that has a network by now': () => look([event(25)], waiting({ phase: 'Pending', podIP: '10.0.0.1' })),
    'that name another node than the pod has': () => look([event(25)], { ...waiting(), spec: { nodeName: 'n2' } }),
    'of a pod that runs': () => look([event(25)], waiting({ phase: 'Running' })),
    'of a pod that is gone': () => look([event(25)], undefined),
    'of an earlier pod of the same name': () => look([event(25)], waiting(undefined, { uid: 'u2' })),
    'of a pod that is being deleted': () => look([event(25)], waiting(undefined, { deletionTimestamp: at(20) })),
    'of a pod that is older than the agent': () => look([event(25)], waiting(undefined, { creationTimestamp: at(-60) })),
    'on a node whose agent is still old': () => look([event(25)], waiting(), { phase: 'old' }),
    'within the number that is tolerated': () => look([event(25)], waiting(), { maxFailed: 1 }),
    'whose server fails': () => look(500, undefined),
  };
  for (const [title, run] of Object.entries(passing))
    it(`stop nothing by events ${title}`, async () => assert.equal((await run()).fault, undefined));

  it('are found among events that a tenant has made of pods of its own, whatever time these name', async () => {
    const planted = Array.from({ length: 5_000 }, (_, at) =>
      event(900 + (at % 500), {
        involvedObject: { namespace: 'attacker', name: `x-${at}` },
        metadata: { creationTimestamp: '2026-01-01T11:00:00Z' },
      }),
    );
    const { fault, paths } = await look([...planted, event(25)], (path) => (path.includes('/shop/') ? waiting() : undefined));
    assert.match(fault?.message ?? '', /n1: shop\/web-1/);
    assert.ok(paths.length < 60, `${paths.length} requests`);
  });

  it('are not asked for in the first seconds, nor again by who may not read events', async () => {
    assert.deepEqual((await look([event(25)], waiting(), { waited: -20_000 })).paths, []);
    assert.equal((await look(403, undefined)).paths.length, 1);
    assert.equal((await look(500, undefined)).paths.length, 2);
    assert.equal((await look([], undefined)).paths[0], '/api/v1/events?fieldSelector=reason%3DFailedCreatePodSandBox&limit=500');
  });
});

describe('why a pod is not ready, while the rollout goes on', () => {
  const late = (pod: string, phase: 'updating' | 'new' = 'updating'): PodProgress => ({
    ...{ node: pod, pod, phase, release: 'v2', ready: '0/1', why: 'not ready, 20 s', late: 'unready' },
  });
  const unhealthy = { type: 'Warning', reason: 'Unhealthy', message: 'Readiness probe failed: felix is not ready', lastTimestamp: at(1) };

  /** Looks at the same pods every 15 s; resolves to what was asked for, and to the last reasons. */
  async function looks(pods: readonly PodProgress[], times: number, status = 200) {
    const paths: string[] = [];
    const raw = async (path: string) => {
      paths.push(path);
      if (status !== 200) throw new ApiFailure(status, 'Refused', 'no');
      return JSON.stringify({ items: path.includes('namespaces/kube-system/events') ? [unhealthy] : [] });
    };
    const board = new Board([target]);
    board.pods.get(target)?.set('done', { ...podFacts({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'done' } }), readyAt: READY });
    const progress: RolloutProgress[] = [{ target, desired: 2, pods, pending: 'more', done: false }];
    const events = new PodEvents({ raw }, board, { maxFailed: 0 });
    for (let look = 1; look <= times; look += 1) {
      events.look(progress, look * 15_000);
      for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
    const asked = paths.map((path) => /involvedObject\.name%3D(.*)&/.exec(path)?.[1] ?? 'all');
    return { asked, whys: events.late.told(progress)[0]?.pods.map(({ why }) => why) };
  }

  it('is told with its state once it has been late for two looks', async () => {
    assert.deepEqual((await looks([late('a')], 1)).asked, []);
    const { asked, whys } = await looks([late('a')], 2);
    assert.deepEqual(asked, ['a']);
    assert.deepEqual(whys, ['not ready, 20 s: Unhealthy: Readiness probe failed: felix is not ready']);
  });

  it('costs no request more: one a look, and every second one is about pods without a network', async () => {
    const { asked } = await looks([late('done', 'new'), late('a'), late('b')], 6);
    assert.deepEqual(asked, ['all', 'a', 'all', 'b', 'all', 'a']);
  });

  it('is not asked of a pod whose state says it, nor again by who may not read events', async () => {
    const crashing = 'agent: CrashLoopBackOff, last exit 1, 4 restarts';
    const { late: _, ...pod } = late('a');
    assert.deepEqual(await looks([{ ...pod, why: crashing, ended: 'agent' }], 3), { asked: [], whys: [crashing] });
    assert.deepEqual((await looks([late('a')], 5, 403)).asked, ['a']);
  });
});
