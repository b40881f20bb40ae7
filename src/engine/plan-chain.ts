import type { Finding } from '../kernel/check.ts';
import type { Context } from '../kernel/context.ts';
import { changesSomething, type EnginePorts } from '../kernel/effect-type.ts';
import type { Observer } from '../kernel/event.ts';
import type { ExitName } from '../kernel/fault.ts';
import { type Interruption, interrupted } from '../kernel/interruption.ts';
import { blocks, oneFindingEach } from '../kernel/judge.ts';
import type { KubeObject } from '../kernel/object.ts';
import { type EarlierAnswers, oneLook, oneLookAtState } from '../kernel/one-look.ts';
import type { PlannedStage } from '../kernel/plan.ts';
import type { Clock, Cluster, Sources } from '../kernel/ports.ts';
import type { AnyStage, OpenStage } from '../kernel/stage.ts';

export interface PlannedChain {
  readonly stages: readonly PlannedStage[];
  readonly findings: readonly Finding[];
  /** Set if the findings stop the chain before it starts. */
  readonly blocked?: ExitName;
  /** Actions that change the cluster or this machine. */
  readonly writes: boolean;
  /** Read-only stages, opened before any change is planned. A run that acts at once may reuse them. */
  readonly looked: Looked;
}

/** Opened stages by id. */
export type Looked = ReadonlyMap<string, LookedAt>;

export interface LookedAt {
  readonly open: OpenStage;
  /** Time that the survey took. */
  readonly tookMs: number;
}

/** What a plan is made from: one look at the cluster. */
export interface PlanPorts extends Sources, Pick<EnginePorts, 'effects'> {
  readonly interruption: Pick<Interruption, 'soft'>;
}

/** Surveys, evaluates and plans every stage without acting. Throws Fault('interrupted') at Ctrl-C: half a survey gives no plan. */
export async function planChain(
  stages: readonly AnyStage[],
  sources: PlanPorts,
  context: Context,
  observe: Observer,
): Promise<PlannedChain> {
  const planned: PlannedStage[] = [];
  const findings: Finding[] = [];
  const looked = new Map<string, LookedAt>();
  const isChanging = () => planned.some(({ actions }) => actions.some((action) => changesSomething(sources.effects, action)));
  const opened = async (stage: AnyStage): Promise<PlannedStage> => {
    const begun = sources.clock.now().getTime();
    const open = await stage.open(sources, inChain(context, stages, stage, true));
    if (sources.interruption.soft.aborted) throw interrupted();
    const tookMs = sources.clock.now().getTime() - begun;
    if (stage.readOnly && !isChanging()) looked.set(stage.id, { open, tookMs });
    const judged = open.findings();
    findings.push(...judged);
    observe({ type: 'judged', stage: stage.id, findings: judged });
    return plannedStage(stage, open);
  };
  for (const stage of stages) {
    const begun = sources.clock.now().getTime();
    observe({ type: 'stage-started', stage: stage.id, title: stage.title });
    // Optional stages are planned for the cluster as the upgrade leaves it.
    const comesAfter = stage.optional === true && isChanging();
    const plan = stage.judgesResult ? unopened(stage) : comesAfter ? unopened(stage, [LATER]) : await opened(stage);
    planned.push(plan);
    observe({ type: 'planned', stage: stage.id, plan, durationMs: sources.clock.now().getTime() - begun });
  }
  const blocked = exitOf(findings, context);
  return { stages: planned, findings: oneFindingEach(findings), ...(blocked ? { blocked } : {}), writes: isChanging(), looked };
}

/** A stage that evaluates the result is not read before there is one: its search covers the whole cluster. */
function unopened({ id, title, ref }: AnyStage, notes: readonly string[] = []): PlannedStage {
  return { id, title, ref, actions: [], objects: [], notes: notes.map((note) => `${id}: ${note}`) };
}

const LATER = 'planned when its turn comes, from the cluster as it is then';

export function plannedStage(stage: AnyStage, open: OpenStage): PlannedStage {
  const plan = open.plan();
  const head = { id: stage.id, title: stage.title, ref: stage.ref };
  if ('skip' in plan) return { ...head, skip: plan.skip, actions: [], objects: plan.objects ?? [], notes: [] };
  const { actions, objects = [], notes = [], edits, twoWay, hosts, restarts, keep, remember } = plan;
  const told = {
    ...(edits ? { edits } : {}),
    ...(twoWay ? { twoWay } : {}),
    ...(hosts ? { hosts } : {}),
    ...(keep ? { keeps: keep.id } : {}),
    ...(restarts && restarts.length > 0 ? { restarts } : {}),
    ...(remember?.digests ? { digests: remember.digests } : {}),
  };
  return { ...head, actions, objects, notes, ...told };
}

/** The exit that the findings ask for: the check's own code if it has one, else 3 or 4. */
export function exitOf(findings: readonly Finding[], context: Context): ExitName | undefined {
  const verdict = blocks(findings, context.options.failOn);
  if (verdict !== 'blocked') return verdict;
  const errors = findings.filter((finding) => finding.outcome === 'error');
  return errors.every((finding) => finding.exit !== undefined) ? errors[0]?.exit : 'blocked';
}

/** The context of one stage of a chain; `onlyPlanned` if what comes before it is not performed. */
export function inChain(context: Context, stages: readonly AnyStage[], stage: AnyStage, onlyPlanned: boolean, again = false): Context {
  const ids = stages.map(({ id }) => id);
  const at = ids.indexOf(stage.id);
  const earlier = ids.slice(0, at);
  const place = { pending: onlyPlanned ? earlier : [], onlyPlanned, earlier, later: ids.slice(at + 1) };
  return { ...context, chain: again ? { ...place, again } : place };
}

/** No look is shared for longer: what others do meanwhile must be seen. */
const LOOK_MS = 2_000;

/**
 * How long a dry-run answer holds for an unchanged object. Definitions and admission hardly change within it, and the server checks the
 * write itself; a user reads a plan for longer.
 */
const ANSWER_MS = 10_000;

interface Seen extends Pick<Sources, 'records' | 'journal'> {
  readonly cluster: Cluster;
  readonly clock: Clock;
}

/** The cluster as consecutive stages see it, read once. A short time ends a look, and so does anything the run does. */
export class Looks<Ports extends Seen> {
  readonly #ports: Ports;
  readonly #answers = new Map<string, { readonly answer: KubeObject; readonly until: number }>();
  #look: { readonly ports: Ports; readonly noted: () => void; readonly begun: number } | undefined;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** True while whoever looks sees what somebody has seen before; of unknown age, where the clock was set back, it is not shared. */
  get shared(): boolean {
    if (this.#look === undefined) return false;
    const age = this.#ports.clock.now().getTime() - this.#look.begun;
    return age >= 0 && age <= LOOK_MS;
  }

  /** For looking only: whoever acts does so on the ports themselves. */
  current(): Ports {
    if (this.#look && this.shared) return this.#look.ports;
    const { state, noted } = oneLookAtState(this.#ports);
    const ports = { ...this.#ports, ...state, cluster: oneLook(this.#ports.cluster, this.#earlier) };
    this.#look = { ports, noted, begun: this.#ports.clock.now().getTime() };
    return ports;
  }

  get #earlier(): EarlierAnswers {
    const now = () => this.#ports.clock.now().getTime();
    return {
      find: (key) => {
        const known = this.#answers.get(key);
        return known && now() <= known.until ? known.answer : undefined;
      },
      // The first answer keeps its age: using it again does not renew it.
      keep: (key, answer) => {
        if (this.#answers.get(key)?.answer !== answer) this.#answers.set(key, { answer, until: now() + ANSWER_MS });
      },
    };
  }

  /** The run has noted something: what was seen of its record is no longer all. */
  noted(): void {
    this.#look?.noted();
  }

  /** Whoever looks next sees the cluster as it is then. */
  refresh(): void {
    this.#look = undefined;
  }

  /** Something was done: nothing that was seen or asked before counts. */
  end(): void {
    this.refresh();
    this.#answers.clear();
  }
}
