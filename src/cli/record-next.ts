import type { Command } from '../kernel/command.ts';
import { intentWords } from '../kernel/intent.ts';
import { nodeCommand, podCommand } from '../kernel/pod-look.ts';
import type { LockHolder } from '../kernel/ports.ts';
import { leavesSteps, type RunRecord } from '../kernel/run-record.ts';
import { type Text, text } from '../kernel/step.ts';
import { type CarriedFlag, commandHere, oursWith, resumeCommand, resumerOf } from './carried.ts';
import { lookAt, telling } from './command-names.ts';

/** What comes next on a cluster, by what is recorded there: `status` and `report` say the same. */
export interface RecordNext {
  readonly command: Command;
  /** The sub-command of it. */
  readonly of: string;
  /** The last stage failed: it shows why, before the run is resumed. */
  readonly isLook?: boolean;
}

export const isAtEnd = ({ finishedAt, outcome }: RunRecord): boolean => finishedAt !== undefined && outcome === 'done';

/** `flags`: of the command line, and those of the record. */
export function nextByRecord(record: RunRecord | undefined, holder: LockHolder | undefined, flags: readonly CarriedFlag[]): RecordNext {
  const last = record?.stages.at(-1);
  if (holder !== undefined || record === undefined || isAtEnd(record) || last?.state !== 'failed') {
    const of = subCommand(record, holder);
    return { of, command: oursWith(of, flags) };
  }
  // What failed is looked at before it is tried again: the record does not say what became of it since.
  const goesBack = intentWords(record.intent).goesBack;
  const of = goesBack ? 'plan' : lookAt(last.id);
  const look = last.pod ? podCommand(last.pod) : last.node === undefined ? undefined : nodeCommand(last.node);
  return { of, isLook: true, command: look ? commandHere(look, flags) : oursWith(goesBack ? 'plan --rollback' : of, flags) };
}

/** Below a look. */
export function afterLook({ isLook = false }: RecordNext, record: RunRecord | undefined, flags: readonly CarriedFlag[]): readonly Text[] {
  return isLook ? [text`Once the cause is fixed, resume with: ${resumeCommand(flags, record)}`] : [];
}

/** Whose flags are told beside it. */
export const suggestedBy = ({ isLook = false, of }: RecordNext, record: RunRecord | undefined): string => (isLook ? resumerOf(record) : of);

function subCommand(record: RunRecord | undefined, holder: LockHolder | undefined): string {
  // It most likely works: who knows that it is dead finds unlock in the lines above.
  if (holder) return 'status --watch';
  if (!record) return telling('readiness').id;
  const result = telling('result');
  if (isAtEnd(record)) return leavesSteps(record) ? result.id : result.next;
  return resumerOf(record);
}
