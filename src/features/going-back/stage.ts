import { intentWords } from '../../kernel/intent.ts';
import type { AnyStage, Stage } from '../../kernel/stage.ts';
import { stage } from '../../kernel/stage.ts';

/** A stage of a rollback: of a run that goes forward it reads nothing. */
export function backwards<Facts>(definition: Stage<Facts>): AnyStage {
  const inner = stage(definition);
  return {
    ...inner,
    async open(sources, context) {
      if (intentWords(context.intent).goesBack) return inner.open(sources, context);
      return { findings: () => [], plan: () => ({ skip: 'it belongs to a rollback' }) };
    },
  };
}

/** Titles of plans and pages. */
export const REF = 'domain §7.2c';
