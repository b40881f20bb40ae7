import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { listenForInterrupts } from '../../src/cli/interrupt.ts';

class Signals extends EventEmitter {
  readonly exits: number[] = [];
  exit(code: number): void {
    this.exits.push(code);
  }
}

describe('Ctrl-C', () => {
  it('stops softly, then hard, then ends at once', () => {
    const [signals, said]: [Signals, string[]] = [new Signals(), []];
    const interrupts = listenForInterrupts((text) => said.push(text), signals);
    signals.emit('SIGINT');
    assert.deepEqual([interrupts.soft.aborted, interrupts.hard.aborted], [true, false]);
    assert.match(said[0] ?? '', /after the current action.*same command/);
    signals.emit('SIGINT');
    assert.deepEqual([interrupts.hard.aborted, signals.exits], [true, []]);
    signals.emit('SIGINT');
    assert.deepEqual(signals.exits, [130]);
  });

  it('leaves no listener behind', () => {
    const signals = new Signals();
    listenForInterrupts(() => undefined, signals).release();
    assert.deepEqual(signals.eventNames(), []);
  });

  it('treats SIGTERM and SIGHUP like Ctrl-C', () => {
    for (const signal of ['SIGTERM', 'SIGHUP']) {
      const signals = new Signals();
      const interrupts = listenForInterrupts(() => undefined, signals);
      signals.emit(signal);
      assert.ok(interrupts.soft.aborted, signal);
    }
  });
});
