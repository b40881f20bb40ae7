import type { Context } from '../../kernel/context.ts';
import type { DefectCondition } from '../../kernel/defect.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { PreflightFacts } from '../survey/index.ts';

/** What a condition of a defect or a change is looked for in. */
export interface DefectWorld {
  readonly facts: PreflightFacts;
  readonly installation: Installation;
  readonly context: Context;
}

/** What a condition is seen on, in words; undefined where it does not hold. */
export type Seen<C extends DefectCondition> = (condition: C, world: DefectWorld) => readonly string[] | undefined;
