import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '../../../src/adapters/clock.ts';
import { ConnectionWatch, type Kept } from '../../../src/features/network-probe/connection-watch.ts';
import { answeringJob, keepingJob } from '../../../src/features/network-probe/kept-jobs.ts';
import { gapsOf, type NetworkTrace, networkText } from '../../../src/kernel/connections.ts';
import { mapAt } from '../../../src/kernel/json.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { until } from '../../control-plane/until.ts';
import { emptyFolder } from '../../support/folders.ts';
import { describeWhere, lacksProgram } from '../../support/needs.ts';
import { freePorts, PlayedNetwork, startPod, writeNc } from '../../support/played-network.ts';

const place = { namespace: 'probe', image: 'busybox', id: 'k3f9', node: 'node-1', part: 'p', endsAfter: 60 };
/** Without `sh`, which is the shell to test with. */
const commandOf = ({ spec }: KubeObject): readonly string[] => {
  const [container] = mapAt(spec, 'template', 'spec').containers as readonly { readonly command: readonly string[] }[];
  return container?.command.slice(1) ?? [];
};
const podOf = (job: string): KubeObject => ({
  ...{ apiVersion: 'v1', kind: 'Pod' },
  metadata: { name: `pod-${job}`, ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: job, uid: job, controller: true }] },
  status: { phase: 'Running', podIP: '10.0.0.1', containerStatuses: [{ name: 'probe', state: { running: {} } }] },
});
/** A connection that the script is told to call silent after this. */
const SILENT_MS = 2_000;
const PLAYED = ['node-calm', 'node-held', 'node-reset', 'node-silent'] as const;

const PROBLEM =
  process.platform === 'linux' ? lacksProgram('bash') : 'only Linux has a clock in /proc, and loopback addresses besides 127.0.0.1';

describeWhere(PROBLEM, 'connections over a played network', function () {
  this.timeout(90_000);
  const folder = emptyFolder('played-network-');
  const networks: PlayedNetwork[] = [];
  const pods: { end(): void }[] = [];
  let trace: NetworkTrace;
  let disturbedAt = 0;
  const told: string[] = [];
  after(() => {
    for (const one of networks) one.close();
    for (const one of pods) one.end();
  });

  before(async () => {
    await writeNc(folder);
    const env = { PATH: `${folder}:/usr/bin:/bin` };
    const ports = await freePorts(4 * PLAYED.length);
    const dialled: string[] = [];
    for (const [index] of PLAYED.entries()) {
      const [first = 0, second = 0, near = 0] = ports.slice(4 * index);
      const [script = '', ...words] = commandOf(answeringJob(place, 1)).slice(1);
      pods.push(startPod('bash', ['-c', script, ...words.slice(0, 2), String(first), String(second)], env));
      const network = new PlayedNetwork();
      networks.push(network);
      await network.open(`127.0.0.${index + 2}`, [first, second], near);
      dialled.push(String(index + 1), `127.0.0.${index + 2}`, String(near));
    }
    const [script = '', name = '', word = ''] = commandOf(keepingJob(place, [], false)).slice(1);
    const keeper = startPod('bash', ['-c', script, name, word, String(SILENT_MS / 10), ...dialled], env);
    pods.push(keeper);
    const kept = PLAYED.map((to, index): Kept => ({ from: 'node-from', to, outside: false, link: index + 1, keeps: 'keeps', answers: to }));
    const cluster = {
      list: async () => ['keeps', ...PLAYED].map(podOf),
      raw: async (path: string) => (path.includes('/pods/pod-keeps/log?') ? keeper.said.split('\n').slice(-60).join('\n') : ''),
      remove: async () => undefined,
    };
    const around = {
      onNetwork: (_: NetworkTrace, because?: string) => void (because === undefined ? undefined : told.push(because)),
      warn: () => undefined,
    };
    const where = { namespace: 'probe', isStrict: false, until: Number.POSITIVE_INFINITY, isRolling: async () => true };
    const watch = new ConnectionWatch({ cluster: cluster as never, clock: systemClock() }, around, where, [], kept);
    const never = new AbortController().signal;
    await watch.opened(30_000, never);
    watch.watch(false);
    assert.equal(watch.trace.connections.length, PLAYED.length, keeper.said);
    const [, held, reset, silent] = networks;
    disturbedAt = Date.now();
    held?.hold();
    silent?.strand();
    reset?.reset();
    await wait(1_500);
    held?.release();
    reset?.reopen();
    await until('the stranded connection is called broken', async () => /^link 4 \d+ no 1 /m.test(keeper.said));
    await until('every connection is there again', async () =>
      [1, 2, 3, 4].every((link) => / yes /.test(keeper.said.split('\n').findLast((line) => line.startsWith(`link ${link} `)) ?? '')),
    );
    await watch.passed(never);
    await watch.end();
    trace = watch.trace;
  });

  it('are counted as broken where they were reset or fell silent, and nowhere else', () => {
    assert.deepEqual(
      trace.connections.map(({ to, broken, breaks }) => [to, broken, breaks.length]),
      [
        ['node-calm', 0, 0],
        ['node-held', 0, 0],
        ['node-reset', 1, 1],
        ['node-silent', 1, 1],
      ],
    );
    assert.equal(networks[2]?.resets, 1);
    for (const [at = ''] of trace.connections.flatMap(({ breaks }) => (breaks.length > 0 ? [breaks] : []))) {
      const lateMs = Date.parse(at) - disturbedAt;
      assert.ok(lateMs > -1_000 && lateMs < 1_500, `a break is told ${lateMs} ms after it was made`);
    }
    assert.deepEqual(told.map((one) => one.replace(/ at .*/, '')).toSorted(), [
      'a connection from a pod on node-from to one on node-reset broke',
      'a connection from a pod on node-from to one on node-silent broke',
    ]);
  });

  it('have the gaps that the network let through, within what this machine takes for an answer', () => {
    // What a connection shows that nobody disturbed is the machine's own.
    const [calm] = trace.connections;
    const slackMs = 300 + 3 * (calm?.longestMs ?? 0);
    for (const [index, { to, longestMs }] of trace.connections.entries()) {
      const played = networks[index]?.longestMs ?? 0;
      assert.ok(Math.abs(longestMs - played) <= slackMs, `${to}: ${longestMs} ms printed, ${played} ms played, slack ${slackMs} ms`);
    }
    const [, held = 0, reset = 0, silent = 0] = trace.connections.map(({ longestMs }) => longestMs);
    assert.ok(held >= 1_300 && reset >= 1_300 && silent >= SILENT_MS, `${held}, ${reset}, ${silent}`);
  });

  it('are told with the longest gap of each node', () => {
    const longest = Math.max(...trace.connections.map(({ longestMs }) => longestMs));
    assert.deepEqual(
      gapsOf(trace).map(({ node, longestMs, broken }) => [node, longestMs, broken]),
      [
        ...trace.connections.slice(0, 1).map(({ longestMs }) => ['node-calm', longestMs, 0]),
        ['node-from', longest, 2],
        ...trace.connections.slice(1).map(({ to, longestMs, broken }) => [to, longestMs, broken]),
      ],
    );
    assert.match(networkText(trace), /^4 connections of pods on 5 nodes: 2 broke, 2 times, longest gap \d+\.\d s \(node-/);
  });

  it('count no more answers than the network let through', () => {
    for (const [index, { beats, to }] of trace.connections.entries()) {
      const played = networks[index]?.lines ?? 0;
      assert.ok(beats > 0 && beats <= played, `${to}: ${beats} counted, ${played} played`);
    }
  });
});
