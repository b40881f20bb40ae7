import type { Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { isRecord, type JsonMap, jsonAt, sameValue } from '../../kernel/json.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import type { StoredRelease } from './chart-facts.ts';
import type { HelmRecord } from './helm-record.ts';
import { newestFirst, readRevision, readStoredRelease, revisionsIn } from './release.ts';

/** The revision that a rollback puts back, as the chart tool itself keeps it. */
export interface Former {
  readonly record: HelmRecord;
  /** Values that somebody changed since the upgrade: they would be lost. */
  readonly changed: readonly string[];
}

/** States of a revision that once was the release. */
const WAS: readonly string[] = ['deployed', 'superseded'];

/** The last one of the older release, behind none but those of the release that is left. */
export async function readFormer(
  cluster: ClusterReader,
  { record, storage }: StoredRelease,
  { goal }: Pick<Context, 'goal'>,
): Promise<Reading<Former>> {
  const { name, namespace } = record;
  const stored = await revisionsIn(cluster, storage, { name, namespace });
  const since: HelmRecord[] = [];
  for (const one of stored.toSorted(newestFirst).filter(({ metadata }) => WAS.includes(metadata.labels?.status ?? ''))) {
    const read = await readRevision(cluster, one);
    if (!read || 'unread' in read) return read ?? { unread: `${one.metadata.name} is gone: someone is at work on the release` };
    const { chart } = read.value;
    if (chart.version === goal.release) return { value: { record: read.value, changed: changedSince(since) } };
    if (chart.version !== goal.takesBack?.to)
      return { unread: `revision ${read.value.revision} is of ${chart.name} ${chart.version}: the release was changed since the upgrade` };
    since.push(read.value);
  }
  return { unread: `no revision of ${namespace}/${name} is left that is of ${goal.release}`, hint: HISTORY };
}

/** The release is the older one, or the older one again. */
export const isFormer = ({ record }: StoredRelease, { goal }: Pick<Context, 'goal'>): boolean =>
  record.status === 'deployed' && record.chart.version === goal.release;

/** Why helm cannot put the older release back; undefined where nothing is known against it. */
export async function whyNoFormer(
  cluster: ClusterReader,
  installation: Installation,
  context: Pick<Context, 'goal'>,
): Promise<string | undefined> {
  const stored = await readStoredRelease(cluster, installation);
  if ('unread' in stored || isFormer(stored.value, context)) return undefined;
  const former = await readFormer(cluster, stored.value, context);
  return 'unread' in former ? former.unread : undefined;
}

const HISTORY =
  'helm keeps ten revisions unless told otherwise. Without it this program does not go back. Do not install the old chart yourself: its operator replaces Typha and all agents at once.';

/** Of the values of the upgrade itself, which comes last, and those of today. */
function changedSince(since: readonly HelmRecord[]): readonly string[] {
  const [now, then] = [since[0]?.values, since.at(-1)?.values];
  if (!now || !then) return [];
  return pathsBetween(now, then);
}

/** `a.b` for each value in which both differ. */
function pathsBetween(one: JsonMap, other: JsonMap, within: readonly string[] = []): readonly string[] {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((key) => {
    const [a, b] = [jsonAt(one, key), jsonAt(other, key)];
    if (sameValue(a, b)) return [];
    const path = [...within, key];
    return isRecord(a) && isRecord(b) ? pathsBetween(a, b, path) : [path.join('.')];
  });
}
