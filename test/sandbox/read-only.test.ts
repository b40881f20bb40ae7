import assert from 'node:assert/strict';
import { virtualClock } from '../../src/sandbox/clock.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';

describe('preflight --read-only', () => {
  const bench = async () => {
    const clock = virtualClock({ start: new Date('2026-11-21T02:00:00Z') });
    return sandboxCommand(await installedSandbox({ clock }));
  };

  it('judges what it can and names what it left out, each with its reason; the next step is the whole preflight', async () => {
    const command = await bench();
    assert.equal(await command.run('preflight', '--read-only'), 0, command.out() + command.err());
    const left = command.out().match(/^- NS-\d+ left out by --read-only: .*$/gm) ?? [];
    assert.deepEqual(
      left.map((line) => line.slice(2, 8)),
      ['NS-009', 'NS-012', 'NS-603', 'NS-205', 'NS-741', 'NS-701', 'NS-754'],
    );
    assert.match(command.out(), /^[5-9]\d ok, /m);
    assert.match(command.out(), /^Next: kubectl netsvc-upgrade preflight$/m);
  });

  it('is told apart from a whole one, which leaves nothing out', async () => {
    const command = await bench();
    await command.run('preflight');
    assert.doesNotMatch(command.out(), /left out/);
    assert.match(command.out(), /^Next: kubectl netsvc-upgrade plan/m);
  });

  it('excludes --probe-nodes, which writes', async () => {
    const command = await bench();
    assert.equal(await command.run('preflight', '--read-only', '--probe-nodes', 'all'), 64);
  });
});
