import { counted } from '../kernel/counted.ts';
import { isPerNode, type RunHistory } from '../kernel/history.ts';
import type { DataPlane } from '../kernel/installation.ts';
import { refText } from '../kernel/object.ts';
import type { PlannedObject, PlannedRestart, PlannedStage } from '../kernel/plan.ts';
import type { RolloutTarget } from '../kernel/rollout.ts';
import { trafficText } from '../kernel/traffic.ts';
import { doneAt } from './heat-map.ts';
import { aboutText } from './rollout-view.ts';

/** What earlier runs on this cluster took. */
export type Former = Pick<RunHistory, 'rollouts' | 'actions'>;
const NONE: Former = { rollouts: [], actions: [] };

/** `7 to add, 24 to change, 0 to remove, 7 restarts on 6 nodes, one at a time · backup first · about 4 min`: what the user agrees to. */
export function planSummary(stages: readonly PlannedStage[], former: Former = NONE, dataPlane?: DataPlane): string {
  const objects = new Map(stages.flatMap((stage) => stage.objects).map((object) => [refText(object.ref), object]));
  const count = (change: PlannedObject['change']) => [...objects.values()].filter((object) => object.change === change).length;
  const actions = stages.flatMap((stage) => stage.actions);
  const removed = actions.filter(({ effect }) => effect.type === 'delete').length;
  const restarts = restartsOf(stages);
  return [
    `${count('create')} to add, ${count('update')} to change, ${removed} to remove, ${restartText(restarts)}`,
    counted(actions.length, 'step'),
    ...(slowest(restarts) === undefined ? [] : [trafficText(dataPlane)]),
    ...(isBackedUp(stages) ? ['backup first'] : []),
    ...timesOf(stages, former),
  ].join(' · ');
}

export function isBackedUp(stages: readonly PlannedStage[]): boolean {
  return stages.some(({ actions }) => actions.some(({ effect }) => effect.type === 'backup'));
}

/** By workload: those of the objects, and those that an operator restarts. */
export function restartsOf(stages: readonly PlannedStage[]): readonly PlannedRestart[] {
  const own = stages.flatMap(({ objects }) => objects).flatMap(({ ref, restarts: pods, atOnce }) => (pods ? [{ ref, pods, atOnce }] : []));
  const operated = stages.flatMap(({ restarts = [] }) => restarts);
  return [...new Map([...operated, ...own].map((one) => [refText(one.ref), one])).values()];
}

/** `7 restarts on 6 nodes, one at a time`: of pods, at the pace of the agents. */
function restartText(restarts: readonly PlannedRestart[]): string {
  const pods = restarts.reduce((sum, one) => sum + one.pods, 0);
  const agents = slowest(restarts);
  if (pods === 0 || agents === undefined) return counted(pods, 'restart');
  const pace = agents.atOnce === undefined ? '' : agents.atOnce === 1 ? ', one at a time' : `, ${agents.atOnce} at a time`;
  return `${counted(pods, 'restart')} on ${counted(agents.pods, 'node')}${pace}`;
}

/** The DaemonSet whose rollout takes longest. */
function slowest(restarts: readonly PlannedRestart[]): PlannedRestart | undefined {
  const rounds = ({ pods, atOnce = 1 }: PlannedRestart) => Math.ceil(pods / atOnce);
  const sets = restarts.filter(({ ref }) => ref.kind === 'DaemonSet');
  return sets.toSorted((one, other) => rounds(other) - rounds(one))[0];
}

/** `about 9 min` where each wait of the plan was seen before, `rollout about 4 min` where the agents' pace alone was; else nothing. */
export function timesOf(stages: readonly PlannedStage[], former: Former = NONE): readonly string[] {
  const agents = slowest(restartsOf(stages));
  const agentsMs = rolloutMs(agents, former);
  const isOfAgents = ({ targets }: Wait) => agents !== undefined && targets.includes(refText(agents.ref));
  const times = openWaits(stages).map((wait) => (isOfAgents(wait) ? agentsMs : waitMs(wait, former)));
  // Where an operator replaces the agents, its own wait lasts as long as they do.
  const total = Math.max(
    agentsMs ?? 0,
    times.reduce<number>((sum, ms = 0) => sum + ms, 0),
  );
  if (total > 0 && !times.includes(undefined) && !stages.some(isPlannedLater)) return [aboutText(total)];
  return agentsMs === undefined ? [] : [`rollout ${aboutText(agentsMs)}`];
}

interface Wait {
  readonly stage: string;
  readonly id: string;
  /** Workloads that are rolled out, where it waits for such. */
  readonly targets: readonly string[];
}

/** Each wait that the plan has; what was waited for before is there at once. */
function openWaits(stages: readonly PlannedStage[]): readonly Wait[] {
  const seen = new Set<string>();
  return stages.flatMap(({ id: stage, actions }) =>
    actions.flatMap(({ id, effect }): readonly Wait[] => {
      if (effect.type !== 'wait') return [];
      const targets = 'targets' in effect.until ? effect.until.targets.map(targetText) : [];
      const isOver = targets.length > 0 && targets.every((one) => seen.has(one));
      for (const one of targets) seen.add(one);
      return isOver ? [] : [{ stage, id, targets }];
    }),
  );
}

const targetText = ({ kind, namespace, name }: RolloutTarget): string => `${kind}/${namespace}/${name}`;

/** What it is for is planned when its turn comes: a note says so, and nobody knows how long it takes. */
function isPlannedLater({ skip, actions, notes }: PlannedStage): boolean {
  return skip === undefined && actions.length === 0 && notes.length > 0;
}

/** As long as the same wait took before, or as the slowest of its workloads did; undefined where that was not seen. */
function waitMs({ stage, id, targets }: Wait, { actions, rollouts }: Former): number | undefined {
  if (targets.length === 0) return actions.findLast((one) => one.stage === stage && one.id === id && one.outcome === 'done')?.durationMs;
  const took = targets.map(
    (target) => rollouts.findLast(({ workload, done, seconds }) => done && workload === target && Number.isFinite(seconds))?.seconds,
  );
  return took.includes(undefined) ? undefined : Math.max(...took.map((seconds = 0) => seconds * 1000));
}

/** By a node's time in earlier rollouts; undefined without any, as that would be a guess. */
function rolloutMs(next: PlannedRestart | undefined, { rollouts }: Former): number | undefined {
  if (next?.atOnce === undefined) return undefined;
  const seconds = rollouts
    .filter(isPerNode)
    .flatMap(nodeSeconds)
    .toSorted((a, b) => a - b);
  // The middle one: a node that failed for an hour says nothing of the others.
  const each = seconds[Math.floor(seconds.length / 2)];
  return each === undefined ? undefined : Math.ceil(next.pods / next.atOnce) * each * 1000;
}

/** What each node took that was seen from its beginning to its end. */
function nodeSeconds({ rows }: RunHistory['rollouts'][number]): readonly number[] {
  return rows.flatMap((row) => {
    const begun = row.marks.find(({ phase }) => phase === 'updating')?.at;
    const took = begun === undefined ? Number.NaN : doneAt(row) - begun;
    return took > 0 && Number.isFinite(took) ? [took] : [];
  });
}
