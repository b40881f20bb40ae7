import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { TerminalScreen } from '../../build/terminal-screen.ts';
import type { RolloutProgress } from '../../src/kernel/rollout.ts';
import { plain } from '../../src/report/colour.ts';
import { startProgress } from '../../src/report/progress.ts';

/** Longer than a beat of the tree's spinner: it repaints without an event. */
const BEATS_MS = 350;

const stages = [
  { id: 'apply', title: 'Apply the target' },
  { id: 'wait', title: 'Wait for the rollout of everything that was changed' },
] as const;

/** A workload on many nodes whose lines are as long as they come. */
const progress: readonly RolloutProgress[] = [
  {
    target: {
      ...{ kind: 'DaemonSet', namespace: 'kube-system', name: 'netsvc-node', container: 'c', image: 'i' },
      ready: { type: 'all-containers' },
    },
    ...{ desired: 40, done: false, pending: '' },
    pods: Array.from({ length: 40 }, (_, index) => ({
      ...{ node: `a-node-with-a-rather-long-name-${index}.example.org`, pod: `p-${index}`, phase: 'failed', release: 'v3.26.4' },
      ...{ ready: '1/2', why: 'ImagePullBackOff: the registry answers that this image is not there, and asks for credentials' },
    })),
  },
];

/** A terminal whose size a person changes; it keeps what was written, and the widest line that it was sent at its size of that moment. */
class ResizedTerminal extends PassThrough {
  readonly isTTY = true;
  columns = 80;
  rows = 24;
  readonly screen = new TerminalScreen(10_000);
  /** Lines that were wider than the terminal. */
  readonly tooWide: string[] = [];
  /** Most lines of one picture beyond the height of the terminal. */
  tooHigh = 0;

  override write(chunk: unknown): boolean {
    const text = String(chunk);
    const lines = stripVTControlCharacters(text).split('\n');
    this.tooWide.push(...lines.filter((line) => line.length > this.columns).map((line) => `${this.columns}: ${line}`));
    this.tooHigh = Math.max(this.tooHigh, lines.length - this.rows);
    // As the line discipline of every terminal has it.
    this.screen.write(text.replaceAll('\n', '\r\n'));
    return true;
  }

  resize(columns: number, rows: number): void {
    [this.columns, this.rows] = [columns, rows];
    this.emit('resize');
  }

  lines(): readonly string[] {
    return this.screen.lines().map((line) => line.map(({ text }) => text).join(''));
  }
}

describe('the live view when the terminal changes its size', function () {
  this.timeout(20_000);

  it('stays within it, before and after the next event, and leaves nothing behind', async () => {
    const terminal = new ResizedTerminal();
    const view = await startProgress({
      ...{ mode: 'tree', phase: 'run', stages, palette: plain },
      write: () => undefined,
      now: () => new Date(0),
      every: () => () => undefined,
      screen: terminal as unknown as NodeJS.WriteStream,
    });
    view.observe({ type: 'stage-done', stage: 'apply', durationMs: 1000 });
    const widths: number[] = [];
    for (const [index, [columns, rows]] of (
      [
        [80, 24],
        [40, 10],
        [120, 40],
        [25, 6],
        [80, 24],
      ] as const
    ).entries()) {
      terminal.resize(columns, rows);
      await wait(BEATS_MS);
      view.observe({ type: 'rollout', stage: 'wait', progress, elapsedMs: 1000 * index });
      await wait(BEATS_MS);
      widths.push(Math.max(...terminal.lines().map((line) => line.length)));
    }
    assert.deepEqual(terminal.tooWide, []);
    assert.ok(terminal.tooHigh <= 0, `${terminal.tooHigh} lines too many`);
    // It takes the room that it has: else nothing above could fail.
    assert.ok((widths[2] ?? 0) > 80 && (widths[0] ?? 0) > 40, String(widths));
    view.observe({ type: 'stage-done', stage: 'wait', durationMs: 2000 });
    await view.close();
    assert.deepEqual(
      terminal.lines().map((line) => line.replace(/^\W+/, '')),
      ['apply: Apply the target (1s)', 'wait: Wait for the rollout of everything that was changed (2s)'],
    );
  });
});
