import assert from 'node:assert/strict';
import { ConnectionWatch } from '../../../src/features/network-probe/index.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { virtualClock } from '../../../src/sandbox/clock.ts';

const podOf = (job: string): KubeObject => ({
  ...{ apiVersion: 'v1', kind: 'Pod' },
  metadata: {
    name: `${job}-x`,
    namespace: 'probe',
    ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: job, uid: job, controller: true }],
  },
  status: { phase: 'Running', podIP: '10.0.0.1', containerStatuses: [{ name: 'probe', state: { running: {} } }] },
});

describe('connections whose Jobs the cluster has ended', () => {
  /** Whether the run is stopped where agents are left, or none. */
  async function isStopped(isRolling: () => Promise<boolean>): Promise<boolean> {
    const clock = virtualClock();
    let pods = [podOf('keeps'), podOf('answers')];
    const cluster = {
      list: async () => pods,
      raw: async () => {
        const now = Math.round(clock.now().getTime() / 10) % 1_000_000_000;
        return `link 1 ${now} yes 0 5 20 ${now - 10} ${now}\n`;
      },
      remove: async () => undefined,
    };
    const around = { onNetwork: () => undefined, warn: () => undefined };
    const place = { namespace: 'probe', isStrict: true, until: clock.now().getTime() + 60_000, isRolling };
    const kept = { from: 'a', to: 'b', outside: false, link: 1, keeps: 'keeps', answers: 'answers' };
    const watch = new ConnectionWatch({ cluster: cluster as never, clock }, around, place, [], [kept]);
    await watch.opened(30_000, new AbortController().signal);
    watch.watch(false);
    pods = [];
    await clock.sleep(120_000, new AbortController().signal);
    await watch.end();
    return watch.failed.aborted;
  }

  it('stop a strict run while agents are replaced, and not afterwards', async () => {
    assert.equal(await isStopped(async () => true), true);
    assert.equal(await isStopped(async () => false), false);
  });

  it('stop it where nobody can say whether agents are left', async () =>
    assert.equal(await isStopped(() => Promise.reject(new Error('no answer'))), true));
});
