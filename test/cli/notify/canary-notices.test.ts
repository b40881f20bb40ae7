import assert from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Notification } from '../../../src/cli/notify/notices.ts';
import { K } from '../../../src/kernel/kinds.ts';
import type { Scenario } from '../../../src/sandbox/scenario.ts';
import { testFolder } from '../../support/folders.ts';
import { sandboxCommand } from '../../support/sandbox-command.ts';
import { installedSandbox } from '../../support/sandbox-ports.ts';

describe('run --notify with a canary', function () {
  this.timeout(60_000);
  const folder = testFolder('canary-notices');
  const [hook, log] = [join(folder, 'hook.sh'), join(folder, 'log')];
  writeFileSync(hook, `#!/bin/sh\ncat >> ${log}; echo >> ${log}\n`);
  chmodSync(hook, 0o755);
  let scenario: Scenario;
  beforeEach(async () => {
    writeFileSync(log, '');
    scenario = await installedSandbox({ nodes: 3, cli: false });
  });

  const told = async (exit: number, ...flags: readonly string[]): Promise<readonly Notification[]> => {
    const bench = sandboxCommand(scenario);
    assert.equal(await bench.run('run', '--yes', '--notify', hook, ...flags), exit, bench.err());
    return readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Notification);
  };
  const events = (all: readonly Notification[]) => all.map(({ event }) => event);

  it('tells that it holds its canary, at the stage that does', async () => {
    const all = await told(5, '--canary', '1');
    assert.deepEqual([events(all), all.at(-1)?.stage], [['started', 'canary-held'], 'apply']);
    assert.match(all.at(-1)?.text ?? '', /holds its canary, and waits for you at stage apply: the canary runs: 1 of 3 agents/);
  });

  it('tells the same of a held canary that is looked at once more', async () => {
    await told(5, '--canary', '1');
    writeFileSync(log, '');
    const all = await told(5, '--canary', '1');
    assert.deepEqual([all.at(-1)?.event, all.at(-1)?.stage], ['canary-held', 'apply']);
  });

  it('tells of a soak that is over, while it continues', async () => {
    assert.deepEqual(events(await told(0, '--canary', '1', '--soak', '10m')), ['started', 'soak-over', 'done']);
  });

  it('tells of a canary that failed', async () => {
    scenario.cluster.nodes.fault('node-01', 'crash-loop');
    const all = await told(5, '--canary', '1', '--soak', '10m');
    assert.deepEqual(events(all), ['started', 'canary-failed']);
    assert.match(all.at(-1)?.message ?? '', /^the canary failed: /);
  });

  it('tells of no soak that is over where what follows it makes the canary fail', async () => {
    const { cluster, clock } = scenario;
    const { raw } = cluster;
    const event = { source: { host: 'node-01' }, involvedObject: { namespace: 'shop', name: 'web' }, message: 'no network' };
    const pod = () => ({
      metadata: { name: 'web', namespace: 'shop', creationTimestamp: new Date(clock.now().getTime()).toISOString() },
      ...{ spec: { nodeName: 'node-01' }, status: { phase: 'Pending' } },
    });
    Object.assign(cluster, {
      raw: async (path: string) => {
        if (path.includes('/events?')) return JSON.stringify({ items: [event] });
        return path.includes('/namespaces/shop/pods?') ? JSON.stringify({ items: [pod()] }) : raw(path);
      },
    });
    const all = await told(5, '--canary', '1', '--soak', '5s');
    assert.deepEqual(events(all), ['started', 'canary-failed'], all.at(-1)?.message);
  });

  const PROBE = ['--probe-network', '--probe-image', 'registry.netsvc.io/tools/busybox:1.37', '--probe-namespace', 'probe'];
  for (const [flag, heldFor] of [
    ['--canary=1', 'canary'],
    ['--after-node=/bin/true', 'rest'],
  ] as const)
    it(`tells what the network of the first new agent means with ${flag}`, async () => {
      await scenario.cluster.create(K.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'probe' } });
      scenario.cluster.nodes.fault('node-01', 'no-network');
      const all = await told(5, flag, ...PROBE);
      const last = all.at(-1);
      assert.deepEqual(events(all), ['started', heldFor === 'canary' ? 'canary-failed' : 'stuck'], last?.message);
      assert.match(last?.message ?? '', heldFor === 'canary' ? /^the canary failed: a new pod on node-01/ : /^a new pod on node-01/);
      assert.match(JSON.stringify(last), /the update strategy stays OnDelete/);
      assert.doesNotMatch(JSON.stringify(last), /keeps rolling out/);
    });

  it('tells of none where none was asked for', async () => {
    scenario.cluster.nodes.fault('node-01', 'crash-loop');
    const all = await told(5, '--after-node', hook);
    assert.deepEqual(events(all), ['started', 'stuck']);
    assert.doesNotMatch(all.at(-1)?.text ?? '', /canary/);
  });
});
