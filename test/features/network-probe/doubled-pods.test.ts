import assert from 'node:assert/strict';
import { ConnectionWatch } from '../../../src/features/network-probe/connection-watch.ts';
import type { Fault } from '../../../src/kernel/fault.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { steppingClock } from '../../support/operator-script.ts';

const podOf = (name: string, job: string, controller = true): KubeObject => ({
  ...{ apiVersion: 'v1', kind: 'Pod' },
  metadata: { name, ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: job, uid: job, controller }] } as never,
  status: { phase: 'Running', podIP: '10.0.0.1', containerStatuses: [{ name: 'probe', state: { running: {} } }] },
});

describe('a connection of whose Job another pod says that it is', () => {
  const never = new AbortController().signal;

  async function watched(forged: KubeObject) {
    const clock = steppingClock();
    const pods = [podOf('keeps-x', 'keeps'), podOf('answers-x', 'answers')];
    const asked: string[] = [];
    const cluster = {
      list: async () => [...pods],
      raw: async (path: string) => {
        asked.push(/pods\/([^/]+)\/log/.exec(path)?.[1] ?? path);
        const now = Math.round(clock.now().getTime() / 10) % 1_000_000_000;
        return `link 1 ${now} yes 0 5 20 ${now - 10} ${now}\n`;
      },
      remove: async () => undefined,
    };
    const told: string[] = [];
    const around = { onNetwork: (_: unknown, because?: string) => void (because && told.push(because)), warn: () => undefined };
    const where = { namespace: 'probe', isStrict: true, until: Number.POSITIVE_INFINITY, isRolling: async () => true };
    const kept = { from: 'a', to: 'b', outside: false, link: 1, keeps: 'keeps', answers: 'answers' };
    const watch = new ConnectionWatch({ cluster: cluster as never, clock }, around, where, [], [kept]);
    await watch.opened(30_000, never);
    pods.push(forged);
    const fault = await watch.settled(never).then(
      () => undefined,
      (thrown: Fault) => thrown,
    );
    return { fault, told, asked };
  }

  it('has no verdict, which stops a run that asked for one', async () => {
    const { fault } = await watched(podOf('y-forged', 'keeps'));
    assert.equal(fault?.code, 'stopped');
    assert.match(fault.message, /no verdict on the connection .*: 2 pods say that they are of Job keeps/);
  });

  it('is not disturbed by one that the Job does not control', async () => {
    const { fault, told, asked } = await watched(podOf('y-forged', 'keeps', false));
    assert.deepEqual([fault?.message, told], [undefined, []]);
    assert.deepEqual([...new Set(asked)], ['keeps-x']);
  });
});
