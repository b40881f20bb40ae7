import type { ToolResult, Tools } from '../../src/kernel/argv.ts';
import type { ApiFailure } from '../../src/kernel/ports.ts';
import type { Records } from '../../src/kernel/run-record.ts';
import type { BadLine } from './owner-faults.ts';

/** Programs: they say in their own words what went wrong, and a run that gives no answer may have done everything. */
export function faultyTools(tools: Tools, line: BadLine): Tools {
  const failed = ({ status, message, reason }: ApiFailure): ToolResult => {
    const answer = { stdout: '', stderr: `${message}\n`, durationMs: 1 };
    return status === 0 && reason === 'ETIMEDOUT' ? { ...answer, exitCode: undefined, problem: 'timed-out' } : { ...answer, exitCode: 1 };
  };
  return {
    ...tools,
    run: async (invocation, options) => {
      const what = `${invocation.tool} ${invocation.args.slice(0, 3).join(' ')}`;
      return line
        .asked(what, () => tools.run(invocation, options))
        .catch((thrown: unknown) => {
          if (thrown instanceof Error && thrown.name === 'ApiFailure') return failed(thrown as ApiFailure);
          throw thrown;
        });
    },
  };
}

/** Requests for the run's record and what it keeps. */
export function faultyRecords(records: Records, line: BadLine): Records {
  return {
    ...records,
    load: () => line.asked('record load', () => records.load()),
    save: (record) => line.asked('record save', () => records.save(record)),
    keep: (id, content) => line.asked(`keep ${id.replace(/^[^/]*/, '')}`, () => records.keep(id, content)),
    append: (lines) => line.asked(`append ${lines.map(({ id }) => id.replace(/^[^/]*/, '')).join(' ')}`, () => records.append(lines)),
    keptWith: (part) => line.asked('kept', () => records.keptWith(part)),
  };
}
