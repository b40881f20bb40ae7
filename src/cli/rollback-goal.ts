import { command } from '../kernel/command.ts';
import type { Context, Goal } from '../kernel/context.ts';
import { Fault } from '../kernel/fault.ts';
import { isOlder, parseRelease } from '../kernel/release.ts';
import { type RunRecord, recordHere } from '../kernel/run-record.ts';
import { look, type Suggestion, text } from '../kernel/step.ts';
import { noWayBack } from '../kernel/undo.ts';

/**
 * Where a rollback goes, and what it takes back: the record of this cluster alone says it. Throws Fault('blocked') where none does, or the
 * way is not open.
 */
export function goalBack(stored: RunRecord | undefined, { clusterUid, profile }: Pick<Context, 'clusterUid' | 'profile'>): Goal {
  const record = recordHere(stored, { clusterUid });
  if (!record) throw none(stored);
  if (record.profile !== profile.name)
    throw blocked(`the recorded run is one of profile ${record.profile}, and this command has ${profile.name}`, [
      text`name it: ${command`kubectl netsvc-upgrade rollback --profile ${record.profile}`}`,
    ]);
  const { intent } = record;
  const { from, to, takesBack } = intent;
  if (takesBack) return { release: to, takesBack };
  if (from === undefined || !parseRelease(from))
    throw blocked(`the run to ${to} did not note which release was installed before it`, [BY_HAND]);
  if (record.wrote.length === 0) throw blocked(`the run to ${to} has written nothing: there is nothing to take back`);
  if (!isOlder(from, to)) throw blocked(`the run to ${to} began at ${from}: there is no older release to go back to`);
  const because = noWayBack(record);
  if (because !== undefined) throw blocked(`there is no way back from ${to} to ${from} here: ${because}`, [SEE_PAGE]);
  const { runId, wrote, startedAt, oldest } = record;
  return { release: from, takesBack: { runId, from, to, wrote, startedAt, ...(oldest === undefined ? {} : { oldest }) } };
}

const SEE_RECORD = look(text`see what is recorded: ${command`kubectl netsvc-upgrade status`}`);
const BY_HAND = 'go back with the commands of RESTORE.md in the backup, object by object';
const SEE_PAGE = 'what is possible from where: docs/use/going-back.md';

function blocked(message: string, more: readonly Suggestion[] = []): Fault {
  return new Fault('blocked', message, [...more, SEE_RECORD]);
}

function none(other: RunRecord | undefined): Fault {
  return other
    ? blocked('the run record is of another cluster: it came with a backup that was restored here, and nothing of it is repeated')
    : blocked('no upgrade is recorded on this cluster: what there would be to go back to is not known');
}
