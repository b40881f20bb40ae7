import { command } from '../kernel/command.ts';
import type { Context, Goal } from '../kernel/context.ts';
import { Fault } from '../kernel/fault.ts';
import { isByChart, isInstallPath } from '../kernel/installation.ts';
import type { TakenBack } from '../kernel/intent.ts';
import { isOlder, parseRelease } from '../kernel/release.ts';
import { type Records, type RunRecord, recordHere } from '../kernel/run-record.ts';
import { look, type Suggestion, text } from '../kernel/step.ts';
import { BY_FILES, noWayBack } from '../kernel/undo.ts';

interface Here extends Pick<Context, 'clusterUid'> {
  readonly profile: Pick<Context['profile'], 'name'>;
  /** Throws Fault for what is no record. */
  readRecord(content: unknown): RunRecord;
}

export type Stored = Pick<Records, 'load' | 'kept' | 'keptWith'>;

/**
 * Where a rollback goes, and what it takes back: the records of this cluster alone say it. Throws Fault('blocked') where none does, or it
 * cannot be done.
 */
export async function goalBack(records: Stored, here: Here): Promise<Goal> {
  const stored = await records.load();
  const record = recordHere(stored, here);
  if (!record) throw none(stored);
  if (record.profile !== here.profile.name)
    throw blocked(`the recorded run is one of profile ${record.profile}, and this command has ${here.profile.name}`, [
      text`name it: ${command`kubectl netsvc-upgrade rollback --profile ${record.profile}`}`,
    ]);
  const { to, takesBack } = record.intent;
  const isOver = record.finishedAt !== undefined;
  if (takesBack) return { release: to, takesBack: isOver ? { ...takesBack, isOver } : takesBack };
  const upgrade = isUpgrade(record) ? record : await upgradeBefore(records, record, here);
  if (upgrade.wrote.length === 0) throw blocked(`the run to ${to} has written nothing: there is nothing to take back`);
  const because = noWayBack(upgrade);
  if (because !== undefined) throw blocked(`${to} cannot be rolled back to ${upgrade.intent.from} here: ${because}`, [SEE_PAGE]);
  const { keptEdits, readFormer } = await import('../features/install-manifest/kept-edits.ts');
  const taken = takenBack({ ...upgrade, kept: keptEdits(upgrade.kept) });
  // What a chart release had of the user, the chart tool keeps.
  if (!isInstallPath(upgrade.path) || !isByChart({ path: upgrade.path })) await readFormer(records, taken);
  return { release: upgrade.intent.from, takesBack: taken };
}

/** An upgrade whose beginning is known. */
type Upgrade = Omit<RunRecord, 'intent'> & { readonly intent: RunRecord['intent'] & { readonly from: string } };

function isUpgrade(record: RunRecord): record is RunRecord & Upgrade {
  const { kind, from, to } = record.intent;
  return kind === 'upgrade' && from !== undefined && parseRelease(from) !== undefined && isOlder(from, to);
}

/** What was done alone after an upgrade has a record of its own, which begins at the upgrade's end: the upgrade's lies beside it. */
async function upgradeBefore({ keptWith }: Stored, last: RunRecord, here: Here): Promise<Upgrade> {
  const kept = (await keptWith(KEPT)).filter(({ id }) => id.endsWith(KEPT)).map(({ content }) => here.readRecord(content));
  const ours = kept.filter(({ clusterUid, profile }) => clusterUid === here.clusterUid && profile === here.profile.name);
  const since: RunRecord[] = [last];
  for (const one of ours.toSorted((a, b) => (a.runId < b.runId ? 1 : -1))) {
    if (one.intent.to !== last.intent.to) break;
    since.push(one);
    if (isUpgrade(one)) return { ...one, wrote: [...new Set(since.flatMap(({ wrote }) => wrote))] };
  }
  const { from = 'an unknown release', to } = last.intent;
  throw blocked(`the last recorded run began at ${from} and went to ${to}: an older release to go back to is not known`, [BY_FILES]);
}

/** End of the ids under which records of earlier runs are kept. */
const KEPT = '/record';

function takenBack({ runId, resumes: since, intent: { from, to }, wrote, kept, startedAt, oldest, backup }: Upgrade): TakenBack {
  const known = { ...(oldest === undefined ? {} : { oldest }), ...(backup === undefined ? {} : { backup }) };
  return { runId, ...(since === undefined ? {} : { since }), from, to, wrote, kept, startedAt, ...known };
}

const SEE_RECORD = look(text`see what is recorded: ${command`kubectl netsvc-upgrade status`}`);
const SEE_PAGE = 'what is possible from where: docs/use/going-back.md';

function blocked(message: string, more: readonly Suggestion[] = []): Fault {
  return new Fault('blocked', message, [...more, SEE_RECORD]);
}

function none(other: RunRecord | undefined): Fault {
  return other
    ? blocked('the run record is of another cluster: it came with a backup that was restored here, and nothing of it is repeated')
    : blocked('no upgrade is recorded on this cluster: what there would be to go back to is not known');
}
