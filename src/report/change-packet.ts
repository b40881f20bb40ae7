import type { Finding } from '../kernel/check.ts';
import { ownCommand } from '../kernel/command.ts';
import { counted, firstOf } from '../kernel/counted.ts';
import type { Edit } from '../kernel/edit.ts';
import type { DataPlane } from '../kernel/installation.ts';
import { refText } from '../kernel/object.ts';
import { type PlannedRestart, type PlannedStage, planSteps } from '../kernel/plan.ts';
import type { AnyStage } from '../kernel/stage.ts';
import { type Said, type Text, text, textOf } from '../kernel/step.ts';
import { TRAFFIC, trafficText } from '../kernel/traffic.ts';
import { NO_RETURNS, type Reached, rowsFrom, type UndoRow, undoneBy } from '../kernel/undo.ts';
import type { PlanHead } from './head-line.ts';
import { type Former, planSummary, restartsOf, timesOf } from './plan-summary.ts';
import { aboutText } from './rollout-view.ts';

/** What a change board asks of an upgrade, each as sentences. */
export interface ChangePacket {
  /** What may go wrong: open checks, what cannot be undone, what of yours is lost. */
  readonly risk: readonly string[];
  /** What changes and restarts, and what that means for traffic. */
  readonly impact: readonly string[];
  /** The stages in their order, with their steps. */
  readonly order: readonly string[];
  readonly duration: readonly string[];
  /** How to go back, and until when. */
  readonly backout: readonly Said[];
  /** What somebody has to decide before, or to do. */
  readonly questions: readonly string[];
}

export interface Planned {
  readonly head: PlanHead;
  readonly stages: readonly PlannedStage[];
  readonly findings: readonly Finding[];
  /** Every stage that there is. */
  readonly chain: readonly AnyStage[];
  readonly former?: Former | undefined;
  /** Absent where it could not be read. */
  readonly dataPlane?: DataPlane | undefined;
  /** What was the user's is known for a rollback: kept before the target is applied, or in the release of a chart. */
  readonly keepsYours: boolean;
}

export function changePacket(planned: Planned): ChangePacket {
  return {
    risk: riskOf(planned),
    impact: impactOf(planned),
    order: orderOf(planned.stages),
    duration: durationOf(planned),
    backout: backoutOf(planned),
    questions: questionsOf(planned),
  };
}

const openIn = (findings: readonly Finding[], ...outcomes: readonly Finding['outcome'][]) =>
  findings.filter(({ outcome }) => outcomes.includes(outcome));

function riskOf({ stages, findings }: Planned): readonly string[] {
  const open = openIn(findings, 'error', 'warning', 'accepted');
  const { noReturn } = planSteps(stages);
  const lost = stages.flatMap(({ edits = [] }) => edits).filter(isLost);
  const passed = openIn(findings, 'ok').length;
  return [
    ...open.map(({ id, outcome, message }) => `${id}, ${outcome}: ${message}`),
    ...(noReturn ? [`No undo after step ${noReturn.step}. ${NO_RETURNS[noReturn.point].long}`] : []),
    ...lost.map(({ ref, path }) => `Your change is lost: ${`${refText(ref)} ${path}`.trim()}`),
    ...(open.length === 0 ? [`No check speaks against it: ${counted(passed, 'check')} passed.`] : []),
  ];
}

/** The upgrade sets another value than the user's. */
function isLost({ outcome, decided }: Edit): boolean {
  return outcome === 'target' || outcome === 'obsolete' || (outcome === 'conflict' && decided !== 'mine');
}

function impactOf({ head, stages, former, dataPlane }: Planned): readonly string[] {
  const nodes = head.nodes === undefined ? '' : ` on ${counted(head.nodes, 'node')}`;
  const restarts = restartsOf(stages);
  return [
    `${head.source ?? 'An unknown release'} → ${head.release}${nodes}.`,
    `${planSummary(stages, former, dataPlane)}.`,
    ...restarts.map(restartLine),
    ...(restarts.some(isPerNode)
      ? [`While an agent restarts: ${trafficText(dataPlane)}. Meanwhile not possible ${TRAFFIC.agents.meanwhile}.`]
      : []),
  ];
}

const isPerNode = ({ ref }: PlannedRestart): boolean => ref.kind === 'DaemonSet';

function restartLine({ ref, pods, atOnce }: PlannedRestart): string {
  return `${refText(ref)} restarts: ${counted(pods, 'pod')}${atOnce === undefined ? '' : `, ${atOnce} at a time`}.`;
}

/** `apply, steps 2–5: Apply the target release`; stages that have nothing to do are left out. */
function orderOf(stages: readonly PlannedStage[]): readonly string[] {
  const { noReturn } = planSteps(stages);
  let step = 0;
  return stages.flatMap(({ id, title, actions }) => {
    const [first, last] = [step + 1, step + actions.length];
    step = last;
    if (actions.length === 0) return [];
    const isLast = noReturn !== undefined && noReturn.step >= first && noReturn.step <= last;
    return [
      `${id}, ${first === last ? `step ${first}` : `steps ${first}–${last}`}: ${title}${isLast ? ` (no undo after step ${noReturn.step})` : ''}`,
    ];
  });
}

function durationOf({ stages, former }: Planned): readonly string[] {
  const known = timesOf(stages, former);
  const agents = restartsOf(stages).find(isPerNode);
  const rounds = agents && Math.ceil(agents.pods / (agents.atOnce ?? 1));
  return [
    ...(known.length > 0
      ? known.map((text) => `${text}, by earlier runs on this cluster.`)
      : ['Not known: no earlier run on this cluster was seen from beginning to end.']),
    ...(rounds === undefined
      ? []
      : [
          `The agents are replaced in ${counted(rounds, 'round')}. With 30 s each that is ${aboutText(rounds * 30_000)}; pulling the image adds its own time.`,
        ]),
  ];
}

/** By the one table of undo: each point that the plan reaches on this path, then what can be undone by itself. */
function backoutOf({ head, stages, chain, keepsYours }: Planned): readonly Said[] {
  const ids = new Set(stages.filter(({ actions }) => actions.length > 0).map(({ id }) => id));
  const writers = chain.filter(({ id }) => ids.has(id));
  const { noReturn } = planSteps(stages);
  const reached = new Set<Reached>([...writers.flatMap(({ reaches }) => reaches ?? []), ...(noReturn ? [noReturn.point] : [])]);
  const rows = rowsFrom(head.source).filter((row) => reached.has(row.reached) && row.paths.some((path) => path === head.path));
  // What the table has says by itself what undoes it.
  const alone = writers.flatMap(({ id, undoneBy = 'copy', reaches }) =>
    undoneBy !== 'copy' && reaches === undefined ? [text`${id} alone: ${ownCommand(undoneBy)}`] : [],
  );
  const lines = [...rows.map((row) => undoLine(row, keepsYours)), ...alone];
  return lines.length === 0 ? ['Nothing of the service is changed.'] : lines;
}

function undoLine(row: UndoRow, keepsYours: boolean): Text {
  const { by, because } = undoneBy(row, keepsYours);
  return text`Once ${row.title}${row.dataPlane === 'ebpf' ? ' (eBPF)' : ''}: ${textOf(by)}. ${because}`;
}

function questionsOf({ stages, findings }: Planned): readonly string[] {
  const steps = stages.flatMap(({ actions }) => actions).filter(({ effect }) => effect.type === 'ask').length;
  const { noReturn } = planSteps(stages);
  return [
    ...openIn(findings, 'error').map(
      ({ id, evidence }) => `Before it can begin, ${id} has to be decided or fixed: ${subjectsOf(evidence)}`,
    ),
    ...openIn(findings, 'warning').map(({ id }) => `Who accepts ${id}?`),
    ...(steps > 0 ? [steps === 1 ? 'Who does the manual step below?' : `Who does the ${steps} manual steps below?`] : []),
    ...(noReturn ? [`Who decides to go beyond step ${noReturn.step}?`] : []),
    'Who says go, and who says stop?',
  ];
}

const NAMED = 3;

function subjectsOf(evidence: Finding['evidence']): string {
  return evidence.length === 0
    ? 'see the check'
    : firstOf(
        evidence.map(({ text }) => text),
        NAMED,
      );
}
