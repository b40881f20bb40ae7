import { agoText } from '../../kernel/counted.ts';
import type { RunProgress, RunRecord } from '../../kernel/run-record.ts';
import { type CarriedFlag, carriedTo } from '../carry.ts';

/** `step 21 of 25`; `steps 2–21 of 25` where the stage is at one of them. */
export function reachedText({ step, last, of }: RunProgress): string {
  return last === undefined || last === step ? `step ${step} of ${of}` : `steps ${step}–${last} of ${of}`;
}

/** Stages with an undo of their own. */
const OWN: Readonly<Record<string, string>> = {
  'ownerrefs-strip': 'ownerrefs restore --undo',
  alp: 'alp --undo',
  hep: 'hep --undo',
  policy: 'policy --undo',
};

/** Stages whose objects are in the backup. */
const BACKED_UP: ReadonlySet<string> = new Set(['crds', 'apply']);

const PAGE = 'docs/use/going-back.md';

/** What of an unfinished run can be undone now, and how: whether, then the ways, what was done last first. */
export function undoTexts(record: RunRecord, carried: readonly CarriedFlag[], now: Date): readonly string[] {
  const wrote = record.wrote.toReversed();
  const ways = wrote.flatMap((stage) => {
    const of = OWN[stage];
    return of === undefined ? [] : [`kubectl netsvc-upgrade ${of}${carriedTo(of, carried)}`];
  });
  const { noReturn, progress, backup } = record;
  if (noReturn) {
    const since = progress?.noReturn ? `since step ${progress.noReturn.step} of ${progress.of}` : `since ${agoText(noReturn.at, now)}`;
    return [`not possible any more ${since}: ${noReturn.because} (${PAGE})`, ...ways.map((way) => `this part alone: ${way}`)];
  }
  const isBackedUp = wrote.some((stage) => BACKED_UP.has(stage));
  if (ways.length === 0 && !isBackedUp) return ['nothing to undo: this run has not changed the service'];
  const until = progress?.noReturn ? ` until step ${progress.noReturn.step} of ${progress.of}` : ' now';
  const files = backup === undefined ? `this run has no backup; see ${PAGE}` : `${backup}/RESTORE.md has the commands, object by object`;
  // References are put back when the objects are as they were.
  const last = ways.filter((way) => way.includes(' ownerrefs '));
  const all = [...ways.filter((way) => !last.includes(way)), ...(isBackedUp ? [files] : []), ...last];
  return all.length === 1 ? [`possible${until}: ${all[0]}`] : [`possible${until}, in this order:`, ...all];
}
