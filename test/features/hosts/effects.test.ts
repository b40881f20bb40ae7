import assert from 'node:assert/strict';
import { deleteNamed } from '../../../src/features/hosts/effects.ts';
import type { RunToolOptions, ToolResult } from '../../../src/kernel/argv.ts';
import type { EnginePorts } from '../../../src/kernel/effect-type.ts';
import { Fault, Outdated } from '../../../src/kernel/fault.ts';
import type { KeptOutcome } from '../../../src/kernel/run-record.ts';

/** The CLI's words, as recorded (host endpoint notes 2, cli notes 1.6). */
const deleted = (count: number) => `Successfully deleted ${count} 'HostEndpoint' resource(s)`;
const missing = (name: string, why = `hostendpoints.crd.projectcalico.org "${name}" not found`) =>
  `Failed to delete 'HostEndpoint' resource: resource does not exist: HostEndpoint(${name}) with error: ${why}`;
const FORBIDDEN =
  'Failed to delete \'HostEndpoint\' resource: connection is unauthorized: hostendpoints.crd.projectcalico.org "b" is forbidden: User "u" cannot delete';

interface Answer {
  readonly out?: string;
  readonly err?: readonly string[];
  readonly problem?: ToolResult['problem'];
}

function asked({ out = '', err = [], problem }: Answer): Promise<void> {
  const run = async (_invocation: unknown, { onLine }: RunToolOptions): Promise<ToolResult> => {
    if (out !== '') onLine?.(out, 'stdout');
    for (const line of err) onLine?.(line, 'stderr');
    const exitCode = problem ? undefined : err.length > 0 ? 1 : 0;
    return { exitCode, stdout: out, stderr: err.join('\n'), durationMs: 1, ...(problem ? { problem } : {}) };
  };
  const ports = { tools: { run, programOf: (tool: string) => tool } } as unknown as EnginePorts;
  const names = ['a', 'b', 'c'];
  const effect = { run: { tool: 'netsvcctl', args: ['delete', 'hostendpoint', ...names] } } as const;
  return deleteNamed(ports, effect, names, new AbortController().signal, () => undefined);
}

const told: Readonly<Record<string, readonly [Answer, KeptOutcome]>> = {
  'one was gone, and it went on after it': [
    { out: deleted(2), err: [missing('b'), ''] },
    { done: true, except: ['b'] },
  ],
  'one was gone from a key-value store': [
    { out: deleted(2), err: [missing('c', '<nil>'), ''] },
    { done: true, except: ['c'] },
  ],
  'all were gone': [{ err: [missing('a'), missing('b'), missing('c')] }, { done: false, except: ['a', 'b', 'c'] }],
};

const untold: Readonly<Record<string, Answer>> = {
  'one was gone, and another it may not delete': { out: deleted(1), err: [missing('a'), FORBIDDEN] },
  'it was ended after the first word': { err: [missing('a')], problem: 'signal' },
  'it gave no answer in time': { out: deleted(2), err: [missing('a')], problem: 'timed-out' },
  'what is gone is none of the names': { out: deleted(2), err: [missing('x')] },
  'it could not ask': { err: ['Failed to delete \'HostEndpoint\' resource: Get "https://x": dial tcp: connect: connection refused'] },
};

describe('the CLI that deletes old endpoints', () => {
  it('has done it where it says nothing else', () => asked({ out: deleted(3) }));

  for (const [title, [answer, outcome]] of Object.entries(told)) {
    it(`tells what somebody else removed where ${title}`, async () => {
      await assert.rejects(asked(answer), (thrown) => {
        assert.ok(thrown instanceof Outdated);
        assert.deepEqual(thrown.outcome, outcome);
        return true;
      });
    });
  }

  for (const [title, answer] of Object.entries(untold)) {
    it(`has failed, and nobody can tell of each name, where ${title}`, async () => {
      await assert.rejects(asked(answer), (thrown) => thrown instanceof Fault);
    });
  }
});
