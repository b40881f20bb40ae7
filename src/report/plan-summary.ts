import { counted } from '../kernel/counted.ts';
import type { RolloutTrace } from '../kernel/history.ts';
import { refText } from '../kernel/object.ts';
import { type PlannedObject, type PlannedRestart, type PlannedStage, planSteps } from '../kernel/plan.ts';
import { doneAt } from './heat-map.ts';
import { aboutText } from './rollout-view.ts';

/** `7 create, 24 update · restarts 7 pods on 6 nodes, one at a time · backup first · about 4 min · no undo after step 41`: what the user agrees to. */
export function planSummary(stages: readonly PlannedStage[], former: readonly RolloutTrace[] = []): string {
  const objects = new Map(stages.flatMap((stage) => stage.objects).map((object) => [refText(object.ref), object]));
  const count = (change: PlannedObject['change']) => [...objects.values()].filter((object) => object.change === change).length;
  const actions = stages.flatMap((stage) => stage.actions);
  const isBackedUp = stages.some(({ id, actions: own }) => id === 'backup' && own.length > 0);
  const { noReturn } = planSteps(stages);
  const restarts = restartsOf(stages);
  const takes = rolloutMs(restarts, former);
  return [
    `${count('create')} create, ${count('update')} update`,
    counted(actions.length, 'step'),
    ...restartTexts(restarts),
    ...(isBackedUp ? ['backup first'] : []),
    ...(takes === undefined ? [] : [aboutText(takes)]),
    ...(noReturn === undefined ? [] : [`no undo after step ${noReturn.step} (${noReturn.because})`]),
  ].join(' · ');
}

/** By workload: those of the objects, and those that an operator restarts. */
function restartsOf(stages: readonly PlannedStage[]): readonly PlannedRestart[] {
  const own = stages
    .flatMap(({ objects }) => objects)
    .flatMap(({ ref, restarts, atOnce }) => (restarts ? [restartOf(ref, restarts, atOnce)] : []));
  const operated = stages.flatMap(({ restarts = [] }) => restarts);
  return [...new Map([...operated, ...own].map((one) => [refText(one.ref), one])).values()];
}

function restartOf(ref: PlannedObject['ref'], pods: number, atOnce: number | undefined): PlannedRestart {
  return { ref, pods, ...(atOnce === undefined ? {} : { atOnce }) };
}

function restartTexts(restarts: readonly PlannedRestart[]): readonly string[] {
  const pods = restarts.reduce((sum, one) => sum + one.pods, 0);
  if (pods === 0) return [];
  const agents = slowest(restarts);
  if (agents === undefined) return [`restarts ${counted(pods, 'pod')}`];
  const pace = agents.atOnce === undefined ? '' : agents.atOnce === 1 ? ', one at a time' : `, ${agents.atOnce} at a time`;
  return [`restarts ${counted(pods, 'pod')} on ${counted(agents.pods, 'node')}${pace}`, 'running pods keep their network'];
}

/** The DaemonSet whose rollout takes longest. */
function slowest(restarts: readonly PlannedRestart[]): PlannedRestart | undefined {
  const rounds = ({ pods, atOnce = 1 }: PlannedRestart) => Math.ceil(pods / atOnce);
  const sets = restarts.filter(({ ref }) => ref.kind === 'DaemonSet');
  return sets.toSorted((one, other) => rounds(other) - rounds(one))[0];
}

/** By a node's time in earlier rollouts; undefined without any, as that would be a guess. */
function rolloutMs(restarts: readonly PlannedRestart[], former: readonly RolloutTrace[]): number | undefined {
  const next = slowest(restarts);
  if (next?.atOnce === undefined) return undefined;
  const seconds = former
    .filter(({ workload }) => workload.startsWith('DaemonSet/'))
    .flatMap(nodeSeconds)
    .toSorted((a, b) => a - b);
  // The middle one: a node that failed for an hour says nothing of the others.
  const each = seconds[Math.floor(seconds.length / 2)];
  return each === undefined ? undefined : Math.ceil(next.pods / next.atOnce) * each * 1000;
}

/** What each node took that was seen from its beginning to its end. */
function nodeSeconds({ rows }: RolloutTrace): readonly number[] {
  return rows.flatMap((row) => {
    const begun = row.marks.find(({ phase }) => phase === 'updating')?.at;
    const took = begun === undefined ? Number.NaN : doneAt(row) - begun;
    return took > 0 && Number.isFinite(took) ? [took] : [];
  });
}
