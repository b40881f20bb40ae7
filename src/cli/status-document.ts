import type { Context } from '../core/context.ts';
import type { ExitName } from '../core/fault.ts';
import type { LockHolder } from '../core/ports.ts';
import type { RunRecord } from '../core/run-record.ts';
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
