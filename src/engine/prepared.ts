import { type Action, stepsLeftIn } from '../kernel/action.ts';
import type { Finding } from '../kernel/check.ts';
import type { Acceptance, Context } from '../kernel/context.ts';
import type { Side } from '../kernel/edit.ts';
import { type EnginePorts, typeOf } from '../kernel/effect-type.ts';
import type { Observer } from '../kernel/event.ts';
import { Fault, UnchangedFault } from '../kernel/fault.ts';
import { type PlanSteps, planSteps } from '../kernel/plan.ts';
import type { AnyStage } from '../kernel/stage.ts';
import { WHEN_READY } from '../kernel/step.ts';
import type { ChainOutcome, RunMore } from './chain-outcome.ts';
import { Looks, type PlannedChain, planChain } from './plan-chain.ts';
import { runChain } from './run-chain.ts';

/* Prepare, approve, execute: none of the three knows a terminal, signals of the process, files or notifications. */

/** What is to be done, and where. */
export interface Request<Ports extends EnginePorts = EnginePorts> {
  readonly stages: readonly AnyStage[];
  readonly context: Context;
  readonly ports: Ports;
}

/** What stands between a plan and its execution: to decide on fields, to waive findings by name, or to agree. */
export type Question = { readonly kind: 'decide' | 'waive'; readonly finding: Finding } | { readonly kind: 'agree' };

/** What was read, found and planned, and what is asked; nothing was changed. */
export interface Prepared<Ports extends EnginePorts = EnginePorts> extends Request<Ports> {
  readonly plan: PlannedChain;
  readonly steps: PlanSteps;
  readonly questions: readonly Question[];
  readonly looks: Looks<Ports>;
  /** The look that the plan was made from. */
  readonly seen: Ports;
}

/** Answers that change the plan: it is prepared again. */
export interface Decisions {
  /** Findings that are waived. */
  readonly accept?: readonly Acceptance[];
  /** Decisions about fields. */
  readonly resolutions?: Readonly<Record<string, Side>>;
}

interface Agreement {
  readonly agreed: boolean;
  /** The user took time to answer: what was read is not used again. */
  readonly isLate?: boolean;
}

/** What may be executed, once. */
export interface Approved<Ports extends EnginePorts = EnginePorts> extends Request<Ports>, Pick<RunMore, 'changes' | 'looked'> {
  readonly steps?: PlanSteps;
  readonly looks: Looks<Ports>;
}

/** Reads the cluster, evaluates and plans every stage; changes nothing. */
export async function prepare<Ports extends EnginePorts>(
  request: Request<Ports>,
  observe: Observer = () => undefined,
): Promise<Prepared<Ports>> {
  const { stages, context, ports } = request;
  const looks = new Looks(ports);
  const seen = looks.current();
  const plan = await planChain(stages, seen, context, observe);
  return { ...request, plan, steps: planSteps(plan.stages), questions: questionsOf(plan, request), looks, seen };
}

/** Nothing of what stands against the plan can be answered: there is no question. */
function questionsOf({ blocked, findings, writes }: PlannedChain, { stages, context }: Request): readonly Question[] {
  if (blocked === undefined) return writes ? [{ kind: 'agree' }] : [];
  const ofFields = new Set(stages.flatMap(({ checks }) => checks).flatMap(({ id, byField }) => (byField ? [id as string] : [])));
  const open = findings.filter(({ outcome }) => outcome === 'error');
  const [fields, others] = [open.filter(({ id }) => ofFields.has(id)), open.filter(({ id }) => !ofFields.has(id))];
  if (!others.every(({ byName }) => byName === true)) return [];
  if (fields.length > 0) return fields.map((finding) => ({ kind: 'decide', finding }));
  const areNamed = context.options.failOn === 'error' && others.every(({ evidence }) => evidence.length > 0);
  return areNamed ? others.map((finding) => ({ kind: 'waive', finding })) : [];
}

/** The context with what was decided, to prepare again. */
export function decided(context: Context, { accept = [], resolutions = {} }: Decisions): Context {
  const { options } = context;
  return {
    ...context,
    options: { ...options, accept: [...options.accept, ...accept], resolutions: { ...options.resolutions, ...resolutions } },
  };
}

/** What may be executed of it. Throws Fault where it is blocked, or nobody agreed. */
export function approve<Ports extends EnginePorts>(
  { plan, stages, context, ports, steps, looks }: Prepared<Ports>,
  { agreed, isLate = false }: Agreement,
): Approved<Ports> {
  if (plan.blocked) throw new Fault(plan.blocked, 'checks failed', ['fix what the findings name, then prepare again']);
  if (plan.writes && !agreed) throw new UnchangedFault('stopped', 'declined: nothing was changed', [WHEN_READY]);
  // A chain without anything to write only looks, and says what is left to the user: no backup is taken of what is not changed.
  const isForUser = (actions: readonly Action[]): boolean =>
    stepsLeftIn(actions) > 0 || actions.some(({ effect }) => typeOf(ports.effects, effect).stops === true);
  const asking = plan.stages.filter(({ actions }) => isForUser(actions)).map(({ id }) => id);
  const isDone = stages.length > 1 && !plan.writes;
  const left = isDone ? stages.filter(({ id, readOnly }) => readOnly || asking.includes(id)) : stages;
  const known = isLate ? { looks: new Looks(ports) } : { looks, looked: plan.looked };
  return { stages: left, context, ports, steps, changes: plan.writes, ...known };
}

/** Stages that only look need nobody's word. */
export function unasked<Ports extends EnginePorts>(request: Request<Ports>): Approved<Ports> {
  return { ...request, looks: new Looks(request.ports) };
}

/** Who is told, and what is kept of it. */
export interface Watching extends Pick<RunMore, 'announce' | 'keepsake' | 'leavesRun' | 'sentinel' | 'within'> {
  readonly observe?: Observer;
}

/** Performs what was approved: each stage is read again right before it writes, and what no longer holds is planned again. */
export function execute(
  { stages, context, ports, ...known }: Approved,
  { observe = () => undefined, ...more }: Watching = {},
): Promise<ChainOutcome> {
  return runChain(stages, ports, context, observe, { ...known, ...more });
}
