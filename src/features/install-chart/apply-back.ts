import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { refText } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { readStopped } from '../install-manifest/index.ts';
import { aroundOlder, BACK_REF, type BackFrame, backNotes, isOwnPace, readBackFrame } from '../install-operator/index.ts';
import { noneLeft, type OwnersJudged, ownersSearched, readOwnersAtDeadline } from '../ownerrefs/index.ts';
import { pathPart, sourceChecks } from '../survey/index.ts';
import { type BackJudged, chartChecksBack } from './back-checks.ts';
import { type FieldConflict, takeoverAction, takeoverOf } from './chart-facts.ts';
import { readConflicts } from './conflicts.ts';
import { isFormer, readFormer } from './former.ts';
import { helmRollback } from './helm-argv.ts';
import { recordedObjects } from './helm-record.ts';
import { chartOperatorImage } from './operator-image.ts';
import { readStoredRelease } from './release.ts';
import { chartDifference, readLost } from './rendered.ts';
import { readHelmVersion } from './source.ts';

type BackFacts = BackJudged & OwnersJudged & BackFrame;

/** The revision before the upgrade, as the chart tool itself keeps it: objects, values and the operator. */
export const chartBack = pathPart<BackFacts>({
  checks: [...sourceChecks, ...chartChecksBack, ownersSearched, noneLeft],
  survey: readBackFacts,
  plan(facts, context) {
    const brings = bringActions(facts);
    const starts = brings.length > 0;
    const actions = aroundOlder(facts, { starts, actions: brings, ofInstallation: true }, context);
    if (actions.length === 0) return { skip: `the release is at ${context.goal.release} again` };
    const { stored, former, conflicts } = facts;
    const taken = conflicts && 'value' in conflicts ? conflicts.value : [];
    const difference =
      starts && 'value' in stored && 'value' in former
        ? chartDifference(recordedObjects(stored.value.base), recordedObjects(former.value.record), taken)
        : undefined;
    return {
      actions,
      objects: difference?.objects ?? [],
      notes: [
        ...backNotes(facts, starts),
        ...(difference && difference.removed.length > 0
          ? [`helm deletes what the older chart has not: ${difference.removed.join(', ')}`]
          : []),
      ],
      ...(starts ? { restarts: facts.restarts } : {}),
    };
  },
});

async function readBackFacts(sources: Sources, context: Context, installation: Installation): Promise<BackFacts> {
  const { cluster } = sources;
  const [record, stored, helm, owners] = await Promise.all([
    sources.records.load(),
    readStoredRelease(cluster, installation),
    readHelmVersion(sources.tools),
    readOwnersAtDeadline(sources, context, installation),
  ]);
  const former = 'unread' in stored ? stored : await readFormer(cluster, stored.value, context);
  const isDone = 'value' in stored && isFormer(stored.value, context);
  const documents = 'value' in former && !isDone ? recordedObjects(former.value.record) : [];
  const [found, stopped, frame] = await Promise.all([
    'value' in stored && documents.length > 0 ? readConflicts(cluster, documents, stored.value) : undefined,
    context.goal.takesBack ? readStopped(sources.records, context.goal.takesBack) : [],
    readBackFrame(sources, context, installation, record, chartOperatorImage),
  ]);
  // That a rollback has stopped the operator is nobody's decision.
  const isOurs = ({ ref, change }: FieldConflict) =>
    change.path === 'spec.replicas' && change.before === 0 && stopped.some((one) => refText(one.ref) === refText(ref));
  const isPace = ({ ref, change }: FieldConflict) => isOwnPace(frame.pace, ref, change.path);
  const conflicts = found && 'value' in found ? { value: found.value.filter((one) => !isOurs(one) && !isPace(one)) } : found;
  const base = 'value' in stored && documents.length > 0 ? stored.value.base : undefined;
  const { lostCrds, lostData } = await readLost(cluster, context.profile, base, async () => documents, documents);
  const crds = lostCrds.map((name) => ({ kind: 'CustomResourceDefinition', name }));
  const lost = 'unread' in lostData ? lostData : { value: [...crds, ...lostData.value] };
  const takeover = 'value' in stored ? takeoverOf(stored.value, record, false, sources.clock.now(), context) : undefined;
  const quietMs = 'value' in stored ? sources.clock.now().getTime() - (stored.value.record.changedAt ?? 0) : 0;
  return { installation, record, stored, helm, former, isDone, conflicts, lost, takeover, quietMs, ...frame, ...owners };
}

/** What this program has interrupted itself is cleared first. */
function bringActions({ stored, helm, former, isDone, takeover }: BackFacts): readonly Action[] {
  if (isDone || 'unread' in stored || 'unread' in helm || 'unread' in former) return [];
  const { record, storage } = stored.value;
  const { name, namespace, applyMethod } = record;
  const { revision, chart } = former.value.record;
  const run = helmRollback({ name, namespace, storage, helm: helm.value, revision, onServer: applyMethod === 'server-side' });
  const title = `put release ${namespace}/${name} back to its revision ${revision}: ${chart.name} ${chart.version}`;
  return [
    ...(takeover ? [takeoverAction(takeover)] : []),
    { id: 'chart', title, ref: BACK_REF, undo: 'partial', afresh: true, effect: { type: 'exec', run } },
  ];
}
