import { Fault } from '../../kernel/fault.ts';
import type { TakenBack } from '../../kernel/intent.ts';
import type { Records } from '../../kernel/run-record.ts';
import { BY_FILES, NOT_KEPT } from '../../kernel/undo.ts';
import { CARRIED_PART, type CarriedEdits, type Former, readCarriedEdits } from '../../manifest/carried-file.ts';

/** Of ids of what runs kept those of the user's changes. */
export const keptEdits = (kept: readonly string[]): readonly string[] => kept.filter((id) => id.includes(CARRIED_PART));

/** What the last run kept of an upgrade that kept any; undefined where it did not come to that. Throws Fault where that is gone or damaged. */
export async function readCarriedThen(
  { kept: read }: Pick<Records, 'kept'>,
  { kept = [] }: Pick<TakenBack, 'kept'>,
): Promise<CarriedEdits | undefined> {
  const id = keptEdits(kept).at(-1);
  if (id === undefined) return undefined;
  const content = await read(id);
  if (content === undefined) throw new Fault('blocked', 'what the upgrade kept of your changes is gone from the cluster', RESTORE);
  const carried = readCarriedEdits(content);
  if (carried) return carried;
  throw new Fault('failed', `what the upgrade kept of your changes cannot be read: ${id} is damaged`, RESTORE);
}

const RESTORE = ['restore the Secrets netsvc-upgrade-run and netsvc-upgrade-run-log-N of kube-system from a backup', `or, ${BY_FILES}`];

/**
 * The same with what was the user's of the former release, which a rollback puts back. Throws Fault('blocked') where the upgrade wrote
 * without that, or kept it as a difference to another release.
 */
export async function readFormer(
  records: Pick<Records, 'kept'>,
  { from, to, wrote, kept = [] }: Pick<TakenBack, 'from' | 'to' | 'wrote' | 'kept'>,
): Promise<(CarriedEdits & { readonly former: Former }) | undefined> {
  const carried = await readCarriedThen(records, { kept });
  const { former } = carried ?? {};
  if (!carried && !wrote.includes('apply')) return undefined;
  if (!carried || !former)
    throw new Fault('blocked', `the upgrade to ${to} did not keep what ${from} had of yours: ${NOT_KEPT}`, [BY_FILES]);
  if (former.release !== from)
    throw new Fault('blocked', `your changes are kept as differences to ${former.release}, and this rollback goes to ${from}`, [BY_FILES]);
  return { ...carried, former };
}
