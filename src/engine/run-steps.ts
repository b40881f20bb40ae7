import type { Action } from '../kernel/action.ts';
import type { PlanSteps, StepPlace } from '../kernel/plan.ts';
import type { RunRecord } from '../kernel/run-record.ts';

/** Where a run is in the steps of the plan that was agreed to, as its record says it. */
export class RunSteps {
  readonly #steps: PlanSteps;
  /** The last step that was begun. */
  #reached: StepPlace | undefined;

  constructor(steps: PlanSteps) {
    this.#steps = steps;
  }

  /** A step begins; its number is stored with the next write. Undefined for one that was planned since, or that is repeated: numbers only grow. */
  reached(stage: string, { id }: Action): StepPlace | undefined {
    const found = this.#steps.places.find((one) => one.stage === stage && one.id === id);
    if (!found || found.step <= (this.#reached?.step ?? 0)) return undefined;
    const { step, of } = found;
    this.#reached = { stage, step, of };
    return this.#reached;
  }

  /** Which of them are those of a stage that is at work: stored once for all of them. */
  of(stage: string): Pick<RunRecord, 'progress'> {
    const own = this.#steps.places.filter((one) => one.stage === stage);
    const [first, last] = [own[0], own.at(-1)];
    if (!first || !last) return {};
    const { noReturn } = this.#steps;
    return { progress: { stage, step: first.step, of: first.of, last: last.step, ...(noReturn ? { noReturn } : {}) } };
  }

  /** Where a part of the run ended. */
  endedAt({ progress }: RunRecord): Pick<RunRecord, 'progress'> {
    const { noReturn } = this.#steps;
    if (this.#reached) return { progress: { ...this.#reached, ...(noReturn ? { noReturn } : {}) } };
    if (!progress) return {};
    const { last: _, ...rest } = progress;
    return { progress: rest };
  }
}
