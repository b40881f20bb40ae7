import assert from 'node:assert/strict';
import { waitOperator } from '../../../src/features/install-operator/effects.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import type { Kind, KubeObject } from '../../../src/kernel/object.ts';
import { ApiFailure, type ListOptions } from '../../../src/kernel/ports.ts';
import { containersOf } from '../../../src/kube/workload.ts';
import {
  type Answers,
  after,
  before,
  HOLD_MS,
  type Moment,
  NEW,
  operatorCluster,
  steppingClock,
  viewOf,
} from '../../support/operator-script.ts';

const { names, target } = viewOf(before, 0);
const expected = { type: 'operator-end', names, target, holdMs: HOLD_MS } as const;
const applied: Moment = { ...before, operator: NEW.operator };
const edited: Moment = { ...applied, generation: 4 };

interface Tried {
  readonly seconds: number;
  readonly reports: readonly string[];
  readonly warnings: readonly string[];
  readonly failure?: { readonly code?: string; readonly message: string; readonly suggestions?: readonly string[] };
}

/** Waits on a scripted cluster; `failure` is what it ended with. */
async function tried(
  answers: Answers,
  timeoutMs = 600_000,
  clock = steppingClock(),
  signal = new AbortController().signal,
): Promise<Tried> {
  const reports: string[] = [];
  const warnings: string[] = [];
  const wait = {
    timeoutMs,
    stop: signal,
    report: (done: number, of: number, _: string, why?: unknown) => void reports.push(`${done}/${of} ${why}`),
    warn: (text: unknown) => void warnings.push(String(text)),
  };
  const failure = await waitOperator({ cluster: operatorCluster(answers, clock), clock }, expected, wait).then(
    () => undefined,
    (thrown: NonNullable<Tried['failure']>) => thrown,
  );
  return { seconds: clock.seconds(), reports, warnings, ...(failure ? { failure } : {}) };
}

describe('the wait for the operator', () => {
  it('ends 15 s after everything is there, and says meanwhile what lags and then that it must hold', async () => {
    const { seconds, reports, failure } = await tried([
      [0, applied],
      [24, edited],
      [50, after],
    ]);
    assert.equal(failure, undefined);
    assert.ok(seconds >= 65 && seconds <= 67, `ended at ${seconds}`);
    assert.match(
      reports[0] ?? '',
      /^1\/5 APIService\/v3\.projectcalico\.org: is served from calico-apiserver, not from calico-system \(and \d+ more\) · kubectl describe apiservice v3\.projectcalico\.org$/,
    );
    assert.equal(reports.at(-1), '5/5 must hold for 15 s');
  });

  it('names a deaf operator once, and in the end what lags and why', async () => {
    const { warnings, failure } = await tried([[0, edited]], 120_000);
    assert.deepEqual(warnings, [
      'deaf operator: Deployment/tigera-operator/tigera-operator: does not answer: the Installation has changed and its status has not followed',
    ]);
    assert.equal(failure?.code, 'timeout');
    assert.match(
      failure?.message ?? '',
      /the operator is not done after 120 s: APIService\/v3\.projectcalico\.org: is served from calico-apiserver/,
    );
    assert.match(failure?.suggestions?.[0] ?? '', /deaf operator/);
    assert.ok(failure?.suggestions?.some((one) => one.endsWith('kubectl -n tigera-operator logs deployment/tigera-operator --tail=50')));
    assert.ok(failure?.suggestions?.some((one) => /^with iptables or nftables, .*; new pods on .* get no network/.test(one)));
  });

  it('says in the end how a paused rollout is resumed', async () => {
    const clock = steppingClock();
    const cluster = operatorCluster([[0, edited]], clock);
    const { list } = cluster;
    const paused = (one: KubeObject): KubeObject => ({
      ...one,
      metadata: { ...one.metadata, namespace: 'calico-system' },
      spec: { ...(one.spec as object), paused: true },
      status: { observedGeneration: one.metadata.generation },
    });
    Object.assign(cluster, {
      list: async (kind: Kind, ...more: [ListOptions?]) =>
        (await list(kind, ...more)).map((one) => (kind.kind === 'Deployment' ? paused(one) : one)),
    });
    const wait = { timeoutMs: 120_000, stop: new AbortController().signal, report: () => undefined, warn: () => undefined };
    await assert.rejects(waitOperator({ cluster, clock }, expected, wait), (thrown) => {
      assert.ok(thrown instanceof Fault);
      const fixes = thrown.steps.filter(({ kind }) => kind === 'fix').map(({ plain }) => plain);
      assert.match(fixes.join('\n'), /^fix: kubectl rollout resume deployment calico-kube-controllers -n calico-system$/m);
      assert.equal(new Set(fixes).size, fixes.length);
      return true;
    });
  });

  it('ends with the first upgraded agent where no more is asked for', async () => {
    const clock = steppingClock();
    const cluster = operatorCluster([[0, edited]], clock);
    const place = { namespace: 'calico-system', name: 'calico-node', container: 'calico-node', ready: { type: 'all-containers' } } as const;
    const pod = (tag: string) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'calico-node-x', namespace: place.namespace },
      spec: { nodeName: 'a', containers: [{ name: 'calico-node', image: `quay.io/calico/node:${tag}` }] },
      status: {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'True' }],
        containerStatuses: [{ name: 'calico-node', ready: true }],
      },
    });
    Object.assign(cluster, {
      get: (
        (get) =>
        async (kind: Kind, ...where: [string, string?]) =>
          kind.kind === 'DaemonSet' ? { ...pod(''), spec: { selector: { matchLabels: {} } } } : get(kind, ...where)
      )(cluster.get),
      list: (
        (list) =>
        async (kind: Kind, ...more: [ListOptions?]) =>
          kind.kind === 'Pod' ? [pod(clock.seconds() < 40 ? 'v3.27.5' : target.release)] : list(kind, ...more)
      )(cluster.list),
    });
    const firstOf = { ...place, runs: { release: target.release, digests: [] } };
    const wait = { timeoutMs: 600_000, stop: new AbortController().signal, report: () => undefined, warn: () => undefined };
    await waitOperator({ cluster, clock }, { ...expected, firstOf }, wait);
    assert.ok(clock.seconds() >= 40 && clock.seconds() <= 42, String(clock.seconds()));
  });

  it('takes a look that fails for no look: what held has to hold anew', async () => {
    const { seconds, reports, failure } = await tried([
      [0, after],
      [10, new ApiFailure(503, 'ServiceUnavailable', 'not now')],
      [12, after],
    ]);
    assert.equal(failure, undefined);
    assert.ok(seconds >= 27, `ended at ${seconds}`);
    assert.ok(reports.some((text) => text.includes('the API server: gives no answer: not now')));
  });

  it('says at its end what events and the log tell of a pod that is late', async () => {
    const labels = { 'k8s-app': 'calico-node' };
    const rolling: Moment = { ...edited, node: { image: NEW.release, updated: 1, ready: 0 } };
    const clock = steppingClock();
    const scripted = operatorCluster([[0, rolling]], clock);
    const late = {
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'calico-node-a', namespace: 'calico-system', labels } },
      spec: { nodeName: 'node-1', containers: [{ name: 'calico-node', image: 'x' }] },
      status: { phase: 'Running', containerStatuses: [{ name: 'calico-node', ready: false, state: { running: {} } }] },
    };
    const paths: string[] = [];
    const cluster = {
      ...scripted,
      async list(kind: Kind, options?: ListOptions) {
        if (kind.kind === 'Pod') return options?.namespace === 'calico-system' ? [late] : [];
        const found = await scripted.list(kind, options);
        const selected = (one: KubeObject) => ({ ...one, spec: { ...(one.spec as object), selector: { matchLabels: labels } } });
        return found.map((one) => ({ ...selected(one), metadata: { ...one.metadata, namespace: 'calico-system' } }));
      },
      async raw(path: string) {
        paths.push(path);
        if (path.includes('/log?')) return 'int_dataplane.go: error programming nftables';
        const message = 'Readiness probe failed: felix is not ready: readiness probe reporting 503';
        return JSON.stringify({ items: [{ type: 'Warning', reason: 'Unhealthy', message }] });
      },
    };
    const said = await waitOperator({ cluster, clock }, expected, {
      ...{ timeoutMs: 60_000, stop: new AbortController().signal, report: () => undefined, warn: () => undefined },
    }).then(
      () => [],
      (thrown: Fault) => thrown.suggestions,
    );
    assert.deepEqual(said.slice(0, 4), [
      'see why: kubectl -n calico-system describe pod calico-node-a',
      'calico-node-a says: Unhealthy: Readiness probe failed: felix is not ready: readiness probe reporting 503',
      'calico-node-a logs: int_dataplane.go: error programming nftables',
      'this means: the agent has not set up its rules yet, or cannot: its log shows what it waits for. If it ends at its start, delete the pod: agents before v3.31.7 and v3.32.2 may lock up there',
    ]);
    assert.equal(paths.length, 2, 'once, at the end');
  });

  it('says at its end what the log tells of an operator that runs and has begun nothing', async () => {
    const labels = { 'k8s-app': 'tigera-operator' };
    const clock = steppingClock();
    const scripted = operatorCluster([[0, applied]], clock);
    const running = {
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'tigera-operator-a', namespace: 'tigera-operator', labels } },
      spec: { nodeName: 'node-1', containers: [{ name: 'tigera-operator', image: 'x' }] },
      status: { phase: 'Running', containerStatuses: [{ name: 'tigera-operator', ready: true, state: { running: {} } }] },
    };
    const cluster = {
      ...scripted,
      list: async (kind: Kind, options?: ListOptions) =>
        kind.kind === 'Pod' ? (options?.namespace === 'tigera-operator' ? [running] : []) : scripted.list(kind, options),
      async get(kind: Kind, name: string, namespace?: string) {
        const found = await scripted.get(kind, name, namespace);
        if (kind.kind !== 'Deployment' || !found) return found;
        const [container] = containersOf(found);
        const template = { spec: { containers: [{ ...container, name: 'tigera-operator' }] } };
        const spec = { ...(found.spec as object), selector: { matchLabels: labels }, template };
        return { ...found, metadata: { ...found.metadata, namespace: 'tigera-operator' }, spec };
      },
      raw: async (path: string) =>
        path.includes('/tigera-operator-a/log?container=tigera-operator&')
          ? '{"level":"error","msg":"Could not wait for Cache to sync"}'
          : '{}',
    };
    const said = await waitOperator({ cluster, clock }, expected, {
      ...{ timeoutMs: 120_000, stop: new AbortController().signal, report: () => undefined, warn: () => undefined },
    }).then(
      (): readonly string[] => [],
      (thrown: Fault) => thrown.suggestions,
    );
    assert.ok(said.includes('tigera-operator-a logs: {"level":"error","msg":"Could not wait for Cache to sync"}'), said.join('\n'));
    assert.ok(said.some((one) => one.startsWith('this means: the operator cannot list or watch a kind that it needs')));
  });

  it('does not count what a machine has slept through as held', async () => {
    const clock = steppingClock();
    const sleep = clock.sleep;
    let naps = 0;
    const napping = {
      ...clock,
      sleep: async (ms: number) => {
        naps += 1;
        await sleep(ms);
        if (naps === 1) clock.jump(3_000_000);
      },
    };
    const { failure } = await tried([[0, after]], 4_000_000, napping);
    assert.equal(failure, undefined);
    assert.ok(naps >= 6, `looked ${naps} times`);
  });

  it('ends at once when it is refused to read', async () => {
    const { failure, seconds } = await tried([[0, new ApiFailure(403, 'Forbidden', 'may not')]]);
    assert.equal(failure?.message, 'may not');
    assert.equal(seconds, 0);
  });

  it('ends when a person stops it', async () => {
    const stop = new AbortController();
    stop.abort();
    assert.equal((await tried([[0, applied]], 600_000, steppingClock(), stop.signal)).failure?.code, 'interrupted');
  });
});
