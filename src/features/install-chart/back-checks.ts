import { command } from '../../kernel/argv.ts';
import { type Check, notApplicable, ok, type Reading, read, type Verdict } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import { type ObjectRef, refText } from '../../kernel/object.ts';
import type { TablesJudged } from '../going-back/index.ts';
import { type AgentsJudged, returnChecks } from '../install-operator/index.ts';
import { failed, listed, type SourceJudged } from '../survey/index.ts';
import { historyOf, interruptedRevision } from './chart-checks.ts';
import type { FieldConflict, StoredRelease, Takeover } from './chart-facts.ts';
import { chartChecks, releaseInSecrets } from './chart-place.ts';
import { undone } from './chart-target.ts';
import type { Former } from './former.ts';
import type { HelmVersion } from './helm-argv.ts';
import { isPending } from './helm-record.ts';

/** What the checks of a chart rollback look at. */
export interface BackJudged extends SourceJudged, AgentsJudged, TablesJudged {
  readonly stored: Reading<StoredRelease>;
  readonly helm: Reading<HelmVersion>;
  readonly former: Reading<Former>;
  /** The release is the older one already. */
  readonly isDone: boolean;
  readonly conflicts: Reading<readonly FieldConflict[]> | undefined;
  /** Of what helm deletes because the older chart has it not: CRDs, and what holds data. */
  readonly lost: Reading<readonly Pick<ObjectRef, 'kind' | 'namespace' | 'name'>[]>;
  readonly takeover: Takeover | undefined;
  /** Since helm last wrote to the release, in milliseconds. */
  readonly quietMs: number;
}

/** helm without --wait is at work for seconds. */
const QUIET_MS = 30_000;

type Judge = (facts: BackJudged, stored: StoredRelease) => Verdict;

/** The check of an upgrade with this id, evaluated for a rollback. */
function inBack(id: string, judge: Judge): Check<BackJudged> {
  const row = chartChecks.find((one) => one.id === id);
  if (!row) throw new Error(`there is no check ${id} of charts`);
  const { judge: _, ...rest } = row;
  return {
    ...rest,
    judge(facts) {
      if ('unread' in facts.stored) return notApplicable('the chart release could not be read: see NS-231');
      return facts.isDone ? notApplicable('the release is the older one again') : judge(facts, facts.stored.value);
    },
  };
}

const releaseText = ({ record: { namespace, name } }: StoredRelease): string => `${namespace}/${name}`;

const formerKept: Check<BackJudged> = {
  id: 'NS-249',
  title: 'former revision of the chart release kept',
  category: 'installation',
  severity: 'error',
  ref: 'domain §2.2',
  judge({ stored, former, helm, isDone }, { goal }) {
    const { record } = read(stored);
    if (isDone) return ok(`revision ${record.revision} is of ${goal.release}`);
    read(helm);
    const { record: before, changed } = read(former);
    if (changed.length === 0) return ok(`revision ${before.revision} is of ${before.chart.name} ${before.chart.version}`);
    return failed(
      `${counted(changed.length, 'value')} of the release changed since the upgrade, and revision ${before.revision} does not have that: ${listed(changed)}`,
      'Give the release its values of the upgrade again, or accept this check: they are then as they were before the upgrade.',
      { evidence: changed.map((text) => ({ text })), next: command`helm get values ${record.name} --namespace ${record.namespace}` },
    );
  },
};

export const chartChecksBack: readonly Check<BackJudged>[] = [
  {
    ...inBack('NS-231', () => ok('')),
    judge({ stored }) {
      const { record, object } = read(stored);
      return ok(`${record.namespace}/${record.name} revision ${record.revision}, ${record.chart.name} ${record.chart.version} (${object})`);
    },
  },
  // Also where all seems done: a revision that was planted can look like that.
  releaseInSecrets,
  inBack('NS-232', ({ takeover, quietMs }, stored) => {
    const { record } = stored;
    const what = `revision ${record.revision} of ${releaseText(stored)} is ${record.status}: ${record.description || 'no reason given'}`;
    if (takeover) return interruptedRevision(what, takeover, record, command`kubectl netsvc-upgrade rollback`, '');
    if (!isPending(record) || (record.status === 'pending-upgrade' && quietMs >= QUIET_MS))
      return ok(`${what}; helm goes back from there as well`);
    return failed(what, 'Somebody may be at work on it: wait for that operation to end, then run the same command again.', {
      next: historyOf(record),
    });
  }),
  formerKept,
  inBack('NS-243', ({ lost }) => {
    const found = read(lost);
    if (found.length === 0) return ok('helm deletes nothing that holds data');
    return failed(
      `helm would delete ${counted(found.length, 'object')} with what is in them: ${listed(found.map((ref) => refText(ref)))}`,
      'Mark each live object with the annotation helm.sh/resource-policy=keep, then run the same command again.',
      { evidence: found.map((ref) => ({ text: refText(ref) })), next: command`kubectl netsvc-upgrade explain NS-243` },
    );
  }),
  inBack('NS-241', ({ conflicts }) => {
    if (conflicts === undefined) return notApplicable('nothing is known to be written');
    const found = read(conflicts);
    if (found.length === 0) return ok('helm writes no field that another manager has set to something else');
    return failed(undone(found), 'Accept it by name to set all of these fields as they were before the upgrade, then set them again.', {
      next: command`kubectl netsvc-upgrade explain NS-241`,
      exit: 'conflicts',
      evidence: found.map(({ ref, change, manager }) => ({
        text: `${refText(ref)} ${change.path}`.trim(),
        detail: manager === undefined ? 'removed in the cluster' : `set by ${manager}`,
      })),
    });
  }),
  ...returnChecks,
];
