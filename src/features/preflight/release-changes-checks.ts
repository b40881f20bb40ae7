import { command } from '../../kernel/argv.ts';
import { notApplicable, ok, type Verdict } from '../../kernel/check.ts';
import type { ReleaseChange } from '../../kernel/defect.ts';
import { parseRelease } from '../../kernel/release.ts';
import { joined } from '../../kernel/step.ts';
import { failed, listed, type PreflightCheck, sourceRelease, table, withInstallation } from '../survey/index.ts';
import { evidenceFor, hitsOf, holding, unreadIn } from './defect-hits.ts';
import { isInRange } from './defect-lines.ts';

/** What old and new releases understand differently, as the profile's table has it. */
export const releaseChangesChecks: readonly PreflightCheck[] = table({ severity: 'warning', ref: 'domain §12' }, [
  /** Old and new agents run side by side until the last node is upgraded. */
  {
    id: 'NS-112',
    title: 'old and new agents agree during the rollout',
    category: 'installation',
    judge: judgeChanges('rollout', 'old and new agents understand each other', 'NS-112'),
  },
  /** Nothing is refused, and yet rules or settings do something else afterwards. */
  {
    id: 'NS-508',
    title: 'settings and rules keep their meaning',
    category: 'resources',
    judge: judgeChanges('meaning', 'no setting and no rule in use gets another meaning', 'NS-508'),
  },
]);

function judgeChanges(effect: ReleaseChange['effect'], good: string, id: string): PreflightCheck['judge'] {
  return withInstallation((installation, facts, context): Verdict => {
    const source = sourceRelease(installation, facts, context);
    const { changes } = context.profile;
    const target = context.goal.release;
    if (!changes || source === undefined || !parseRelease(source))
      return notApplicable('nothing is known of what changes from the installed release on');
    const crossed = changes.filter((one) => one.effect === effect && isCrossed(one, source, target));
    const found = holding(crossed, { facts, installation, context });
    const hits = hitsOf(found);
    if (hits.length === 0) {
      const unread = unreadIn(found);
      if (unread) throw unread;
      return ok(`from ${source} to ${target} ${good}`);
    }
    const [only] = hits;
    const because = hits.length === 1 && only ? only.row.happens : listed(hits.map(({ row }) => row.id));
    const advice = joined([...new Set(hits.flatMap(({ row }) => row.advice ?? []))], ' ');
    return failed(`from ${source} to ${target}: ${because}`, advice, {
      evidence: hits.map(evidenceFor),
      severity: hits.some(({ row }) => row.severity === 'error') ? 'error' : 'warning',
      next: command`kubectl netsvc-upgrade explain ${id}`,
    });
  });
}

function isCrossed({ releases, crossed }: ReleaseChange, source: string, target: string): boolean {
  const [before, after] = [isInRange(source, releases), isInRange(target, releases)];
  if (before === after) return false;
  return crossed === 'either way' || (crossed === 'into' ? after : before);
}
