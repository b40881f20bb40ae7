import type { Context } from '../kernel/context.ts';
import type { ExitName } from '../kernel/fault.ts';
import type { LockHolder } from '../kernel/ports.ts';
import type { RunRecord } from '../kernel/run-record.ts';
import { documentHead } from './document-head.ts';
import type { RecordedOwners, StatusDocument } from './documents.ts';

export function statusDocument(
  context: Context,
  exit: ExitName,
  lock: LockHolder | undefined,
  record: RunRecord | undefined,
  next: string,
  owners?: RecordedOwners,
): StatusDocument {
  const { profile = null, target = null } = record ?? {};
  return {
    ...documentHead(context, exit, next),
    profile,
    target,
    kind: 'Status',
    lock: lock ?? null,
    record: record ?? null,
    ownerReferences: owners ?? null,
  };
}
