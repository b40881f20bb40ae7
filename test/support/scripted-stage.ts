import type { Sources } from '../../src/kernel/ports.ts';
import { type AnyStage, type Stage, type StagePlan, stage } from '../../src/kernel/stage.ts';

/** A stage whose plans are given round by round; after the last it has nothing to do. `look` is what it asks in each. */
export function scripted(
  id: string,
  rounds: readonly StagePlan[],
  extra: Partial<Stage<number>> = {},
  look: (sources: Sources) => Promise<unknown> = async () => undefined,
): AnyStage {
  let round = 0;
  return stage<number>({
    id: id as Stage<number>['id'],
    title: id,
    ref: '§4.4',
    readOnly: false,
    needs: [],
    checks: [],
    async survey(sources) {
      await look(sources);
      return round++;
    },
    plan: (facts) => rounds[facts] ?? { skip: 'nothing to do' },
    ...extra,
  });
}
