import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { listenForInterrupts } from '../../src/cli/real-seams.ts';

class Signals extends EventEmitter {
  readonly exits: number[] = [];
  exit(code: number): void {
    this.exits.push(code);
  }
}

/** Signals, what they said, and a clock that is moved by hand. */
function played() {
  const [signals, said]: [Signals, string[]] = [new Signals(), []];
  let timer: { readonly ms: number; readonly call: () => void } | undefined;
  const interrupts = listenForInterrupts(
    (text) => said.push(text),
    signals,
    (ms, call) => {
      timer = { ms, call };
      return () => {
        timer = undefined;
      };
    },
  );
  const { soft, hard, late, over } = interrupts;
  return {
    interrupts,
    said,
    signals,
    press: () => signals.emit('SIGINT'),
    /** Lets the time come that is waited for; how long that was, in milliseconds. */
    pass: () => {
      const { ms, call } = timer ?? assert.fail('nothing is waited for');
      timer = undefined;
      call();
      return ms;
    },
    waits: () => timer?.ms,
    aborted: () => Object.entries({ soft, hard, late, over }).flatMap(([name, { aborted }]) => (aborted ? [name] : [])),
  };
}

describe('Ctrl-C', () => {
  it('stops at once where nothing is being changed, with a little time for last words', () => {
    const { press, said, aborted, pass } = played();
    press();
    assert.deepEqual(aborted(), ['soft', 'hard']);
    assert.match(said[0] ?? '', /^Stopping\. .*same command/);
    assert.equal(pass(), 5000);
    assert.deepEqual(aborted(), ['soft', 'hard', 'late']);
    assert.equal(pass(), 1000);
    assert.deepEqual(aborted(), ['soft', 'hard', 'late', 'over']);
  });

  it('lets an action come to its end, and begins nothing more', async () => {
    const { press, said, aborted, interrupts, waits } = played();
    let done = () => {};
    const action = interrupts.finish(() => new Promise<void>((resolve) => (done = resolve)));
    press();
    assert.deepEqual(aborted(), ['soft']);
    assert.match(said[0] ?? '', /after the current action.*same command/);
    assert.equal(waits(), undefined, 'an action has all the time that it needs');
    done();
    await action;
    assert.deepEqual(aborted(), ['soft', 'hard']);
  });

  it('ends at once when pressed twice, whatever is at work', () => {
    const { press, said, aborted, interrupts, pass, signals } = played();
    void interrupts.finish(() => new Promise<void>(() => undefined));
    press();
    press();
    assert.deepEqual(aborted(), ['soft', 'hard']);
    assert.match(said[1] ?? '', /current action.*same command/);
    assert.deepEqual([pass(), pass()], [1000, 1000]);
    assert.deepEqual(aborted(), ['soft', 'hard', 'late', 'over']);
    assert.deepEqual(signals.exits, [], 'the command ends by itself, with its words and its files in order');
  });

  it('takes the time for last words away when pressed again, and ends the process where it stands after that', () => {
    const { press, aborted, signals } = played();
    press();
    press();
    assert.deepEqual(aborted(), ['soft', 'hard', 'late']);
    press();
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

describe('what nothing caught', () => {
  for (const event of ['uncaughtException', 'unhandledRejection'])
    it(`ends the command as a second Ctrl-C does, and is told: ${event}`, () => {
      const { signals, interrupts, aborted, pass, waits } = played();
      assert.equal(interrupts.defect?.(), undefined);
      const thrown = new Error('a defect');
      signals.emit(event, thrown);
      signals.emit(event, new Error('another'));
      assert.deepEqual([aborted(), waits()], [['soft', 'hard'], 1000]);
      assert.equal(interrupts.defect?.()?.thrown, thrown);
      pass();
      pass();
      assert.deepEqual(aborted(), ['soft', 'hard', 'late', 'over']);
      interrupts.release();
      assert.equal(signals.listenerCount(event), 0);
    });
});
