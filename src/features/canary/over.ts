import { command } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import { continues, type Records, type RunRecord } from '../../kernel/run-record.ts';
import { text } from '../../kernel/step.ts';
import { hadOwnStrategy } from './own-strategy.ts';

/**
 * For a run that is to stop after its canary, where none can be held any more. It would be cut short and continue nothing, or perform waves
 * that nobody has confirmed. Throws Fault: `stopped` where this command has held the agents itself, else `usage`.
 */
export async function refuseOver(records: Pick<Records, 'keptWith'>, record: RunRecord | undefined, context: Context): Promise<void> {
  const { canary, soakMs } = context.options;
  if (canary === undefined || soakMs !== undefined || !continues(record, context)) return;
  const isResumed = record.startedAt !== context.startedAt.toISOString();
  if (!isResumed && !(await hadOwnStrategy(records, record))) return;
  throw new Fault(
    isResumed ? 'usage' : 'stopped',
    '--canary: no agent is left for it: all are new, or the DaemonSet replaces them by itself',
    [text`continue without it: ${command`kubectl netsvc-upgrade commit`}`],
  );
}
