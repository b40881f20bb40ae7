import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { type Span, TerminalScreen } from '../../build/terminal-screen.ts';
import type { Action } from '../../src/kernel/action.ts';
import type { EngineEvent } from '../../src/kernel/event.ts';
import { palette } from '../../src/report/colour.ts';
import { startProgress } from '../../src/report/progress.ts';

/** Longer than a beat of the spinner. */
const BEATS_MS = 250;

const stages = [
  { id: 'crds', title: 'New CRDs' },
  { id: 'apply', title: 'Apply the target' },
  { id: 'wait', title: 'Wait for the rollout' },
];
const action: Action = { id: 'a', title: 'apply', ref: 'r', undo: 'full', effect: { type: 'ask', instruction: 'x' } };
const plan = { title: 'New CRDs', ref: 'r', actions: [], objects: [], notes: [] };
const dimmed = palette({ isTerminal: true, env: {} });

type Screen = readonly (readonly Span[])[];
const textOf = (screen: Screen) => screen.map((line) => line.map(({ text }) => text).join(''));
const styleOf = (screen: Screen, id: string) =>
  screen.find((line) => line.some(({ text }) => text.includes(`${id}:`)))?.find(({ text }) => text.trim() !== '')?.styles;

/** The screen while the events are shown, and after the end. */
async function screens(
  phase: 'plan' | 'run',
  events: readonly EngineEvent[],
): Promise<{ readonly during: Screen; readonly after: Screen }> {
  const screen = new TerminalScreen(80);
  const terminal = Object.assign(new PassThrough(), {
    ...{ isTTY: true, columns: 80, rows: 24 },
    write: (chunk: unknown) => {
      screen.write(String(chunk).replaceAll('\n', '\r\n'));
      return true;
    },
  });
  const view = await startProgress({
    ...{ mode: 'tree', phase, stages, palette: dimmed, write: () => undefined, every: () => () => undefined, now: () => new Date(0) },
    screen: terminal as unknown as NodeJS.WriteStream,
  });
  for (const event of events) view.observe(event);
  await wait(BEATS_MS);
  const during = screen.lines();
  await view.close();
  return { during, after: screen.lines() };
}

describe('the list of stages on a terminal', () => {
  it('has no mark for a stage while a plan is made, and says that nothing is changed', async () => {
    const { during, after } = await screens('plan', [
      { type: 'stage-started', stage: 'crds', title: 'New CRDs' },
      { type: 'planned', stage: 'crds', plan: { id: 'crds', ...plan } },
      { type: 'stage-started', stage: 'apply', title: 'Apply the target' },
    ]);
    const lines = textOf(during);
    assert.match(lines[0] ?? '', /planning \(nothing is changed\)$/);
    assert.match(lines[1] ?? '', /apply: Apply the target$/);
    assert.doesNotMatch(lines.join('\n'), /✔|crds/);
    assert.deepEqual(after, [], 'the plan itself comes next');
  });

  it('marks a stage that ran, and dims what was not needed and what never began', async () => {
    const { after } = await screens('run', [
      { type: 'stage-skipped', stage: 'crds', because: 'there already' },
      { type: 'action-failed', stage: 'apply', action, message: 'boom' },
    ]);
    const [skipped, failed, , never] = textOf(after);
    assert.equal(skipped, '↓ crds: New CRDs: not needed');
    assert.equal(failed, '✖ apply: Apply the target');
    assert.match(never ?? '', / wait: Wait for the rollout$/);
    assert.deepEqual(styleOf(after, 'crds'), ['2']);
    assert.deepEqual(styleOf(after, 'wait'), ['2']);
  });
});
