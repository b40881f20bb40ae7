import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { listenForInterrupts } from '../../src/cli/real-seams.ts';
import { K } from '../../src/kernel/kinds.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';

class Process extends EventEmitter {
  exit(): void {
    assert.fail('the process was ended where it stood');
  }
}

describe('a defect in the middle of a run', () => {
  it('gives the lock back, closes what was open, and ends the command with itself', async () => {
    const scenario = await installedSandbox();
    const bench = sandboxCommand(scenario);
    const played = new Process();
    const { compose } = bench.seams;
    let closed = 0;
    Object.assign(bench.seams, {
      listenForInterrupts: (say: (text: string) => void) => listenForInterrupts(say, played),
      compose: async (request: Parameters<typeof compose>[0]) => {
        const composition = await compose(request);
        const close = async () => {
          closed += 1;
          await composition.close();
        };
        return { ...composition, close };
      },
    });
    let held: string | undefined;
    scenario.cluster.store.listen(({ kind }) => {
      if (kind.plural !== K.DaemonSet.plural || held !== undefined) return;
      held = scenario.state.holder?.identity ?? '';
      played.emit('uncaughtException', new Error('nobody caught it'));
    });
    const ended = await bench.run('run', '--yes').then(
      (exit) => `exit ${exit}`,
      (thrown: unknown) => String(thrown),
    );
    assert.match(`${ended}\n${bench.err()}`, /nobody caught it/);
    assert.notEqual(ended, 'exit 0');
    assert.ok(held, 'the lock was held in the middle');
    assert.deepEqual([scenario.state.holder, closed], [undefined, 1]);
    assert.equal(scenario.state.record?.finishedAt, undefined);
  });
});
