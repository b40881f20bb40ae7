import assert from 'node:assert/strict';
import type { AgentOnNode } from '../../../src/features/network-probe/agents.ts';
import { probeNodes } from '../../../src/features/network-probe/probe.ts';
import type { EnginePorts } from '../../../src/kernel/effect-type.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { ApiFailure } from '../../../src/kernel/ports.ts';
import { steppingClock } from '../../support/operator-script.ts';

const [a, z]: AgentOnNode[] = [
  { node: 'a', is: 'upgraded', pod: 'calico-node-a', uid: 'a' },
  { node: 'z', is: 'old', pod: 'calico-node-z', uid: 'z' },
];

interface World {
  /** The status of the pod of a Job; undefined: it has none. */
  readonly pod: (job: string) => object | undefined;
  readonly events?: readonly object[];
  /** Pods that somebody else makes for each Job, by its UID. */
  readonly forged?: (uid: string) => readonly KubeObject[];
  /** Failures of the first lists. */
  readonly failing?: number;
}
const container = (state: object) => ({ containerStatuses: [{ name: 'probe', state }] });
const runs = { phase: 'Running', podIP: '10.0.0.1', ...container({ running: {} }) };
const creating = { phase: 'Pending', ...container({ waiting: { reason: 'ContainerCreating' } }) };
const ended = (exitCode: number) => ({ phase: 'Succeeded', ...container({ terminated: { exitCode } }) });
const working = (job: string) => (job.includes('listener') ? runs : ended(0));

async function probe({ pod, events = [], failing = 0, forged = () => [] }: World, stop = new AbortController()) {
  const clock = steppingClock();
  const jobs: KubeObject[] = [];
  const [asked, reports, created]: [string[], string[], unknown[]] = [[], [], []];
  let lists = 0;
  const cluster = {
    create: async (_: unknown, job: KubeObject) => {
      jobs.push({ ...job, metadata: { ...job.metadata, uid: job.metadata.name } });
      return jobs.at(-1);
    },
    list: async () => {
      lists += 1;
      if (lists <= failing) throw new ApiFailure(503, 'ServiceUnavailable', 'not now');
      return jobs.flatMap(({ metadata: { name, uid } }) => {
        const status = pod(name);
        return status
          ? [
              ...forged(String(uid)),
              { apiVersion: 'v1', kind: 'Pod', metadata: { name: `${name}-x`, ownerReferences: [{ uid, controller: true }] }, status },
            ]
          : [];
      });
    },
    raw: async (path: string) => {
      asked.push(decodeURIComponent(path));
      return JSON.stringify({ items: events });
    },
  } as unknown as EnginePorts['cluster'];
  const report = (done: number, of: number, what: string) => void reports.push(`${what} ${done}/${of}`);
  const probed = await probeNodes(
    [a, z].flatMap((one) => one ?? []),
    { cluster, clock },
    { namespace: 'probe', image: 'busybox' },
    { stop: stop.signal, report, created: (job) => created.push(job.uid) },
  );
  assert.deepEqual(
    created,
    jobs.map(({ metadata }) => metadata.uid),
    'each Job is told by its UID, to be deleted',
  );
  return { probed, jobs, asked, reports, seconds: clock.seconds() };
}

describe('a network probe', () => {
  it('has each node ask the other for its answer', async () => {
    const { probed, jobs, reports } = await probe({ pod: working });
    assert.ok('found' in probed);
    assert.deepEqual(
      probed.found.map(({ from, to, lacks }) => `${from.node} ${to.node} ${lacks}`),
      ['a z nothing', 'z a nothing'],
    );
    assert.equal(jobs.length, 4);
    assert.ok(reports.includes('clients of the network probe 2/2'), reports.join());
  });

  const posing = (uid: string, controller: boolean): KubeObject =>
    ({
      ...{ apiVersion: 'v1', kind: 'Pod' },
      metadata: { name: '0-first', ownerReferences: [{ uid, controller }] },
      status: ended(69),
    }) as never;

  it('hears no pod that its Job does not control, and none where several say that it does', async () => {
    const fair = await probe({ pod: working, forged: (uid) => [posing(uid, false)] });
    assert.ok('found' in fair.probed, JSON.stringify(fair.probed));
    const { probed } = await probe({ pod: working, forged: (uid) => [posing(uid, true)] });
    assert.ok('unmade' in probed && /2 pods say that they are of Job/.test(probed.unmade), JSON.stringify(probed));
  });

  it('is what an event of the kubelet says, where a new pod gets no network', async () => {
    const events = [
      { type: 'Warning', reason: 'FailedCreatePodSandBox', message: 'connection is unauthorized', lastTimestamp: '2026-11-26T01:00:00Z' },
      { type: 'Warning', reason: 'Other', message: 'later', lastTimestamp: '2026-11-26T02:00:00Z' },
    ];
    const { probed, asked, seconds } = await probe({ pod: () => creating, events });
    assert.deepEqual(probed, { found: [{ from: a, to: a, lacks: 'no-sandbox', says: 'connection is unauthorized' }] });
    assert.match(
      asked[0] ?? '',
      /^\/api\/v1\/namespaces\/probe\/events\?fieldSelector=involvedObject\.name=netsvc-upgrade-probe-\w+-listener-1-x&/,
    );
    assert.ok(seconds >= 60 && seconds < 65, String(seconds));
  });

  for (const [title, world, because, atMost] of [
    [
      'the pods are refused',
      { pod: () => undefined, events: [{ type: 'Warning', reason: 'FailedCreate', message: 'exceeded quota' }] },
      'the pod on a: FailedCreate: exceeded quota',
      11,
    ],
    ['the pods are refused and events may not be read', { pod: () => undefined }, 'the pod on a: no pod was created', 11],
    ['a container does not start', { pod: () => creating }, 'the pod on a: its container did not start in time', 61],
    ['an image is not there', { pod: () => container({ waiting: { reason: 'ErrImagePull' } }) }, 'the pod on a: ErrImagePull', 1],
    ['a listener has no program', { pod: () => ended(69) }, 'the pod on a ended with exit code 69: ', 1],
    ['a client does not end', { pod: () => runs }, 'the pod on a did not end in time', 151],
    [
      'a client ends as none does',
      { pod: (job: string) => (job.includes('listener') ? runs : ended(3)) },
      'the client on a ended with exit code 3: ',
      1,
    ],
  ] as const)
    it(`says nothing of the network where ${title}`, async () => {
      const { probed, seconds } = await probe(world);
      assert.deepEqual(probed, { unmade: because });
      assert.ok(seconds <= atMost, String(seconds));
    });

  it('goes on over answers that tell to come back', async () => {
    const { probed } = await probe({ pod: working, failing: 3 });
    assert.ok('found' in probed);
  });

  it('ends when it is stopped', async () => {
    const stop = new AbortController();
    stop.abort();
    await assert.rejects(probe({ pod: () => creating }, stop), { code: 'interrupted' });
  });
});
