import type { Finding, Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import type { Detection } from '../../kernel/installation.ts';
import { judgeAll } from '../../kernel/judge.ts';
import type { Sources } from '../../kernel/ports.ts';
import { typhaOrderTaken } from '../install-operator/index.ts';
import { attempt } from '../survey/index.ts';
import { chartChecks } from './chart-catalogue.ts';
import { readChartFacts } from './survey.ts';
import { type ChartWork, chartWork } from './work.ts';

/** What preflight tells of the upgrade of a chart release beforehand. */
export interface ChartAhead {
  /** What `apply` would find now. */
  readonly findings: readonly Finding[];
  /** Undefined while the operator does not name its release. */
  readonly work: ChartWork | undefined;
}

/** Undefined where there is no chart release. */
export async function readChartAhead(
  sources: Sources,
  context: Context,
  detection: Reading<Detection>,
): Promise<Reading<ChartAhead | undefined>> {
  if ('unread' in detection) return detection;
  const found = detection.value;
  if (found.type !== 'found' || found.installation.path !== 'chart') return { value: undefined };
  const { installation } = found;
  return attempt(async () => {
    const facts = await readChartFacts(sources, context, installation, 'earlier');
    const work = installation.chart && (await chartWork(sources, facts, installation.chart));
    return { findings: judgeAll([...chartChecks, ...takenByName(context)], facts, context), work };
  });
}

/**
 * A chain that continues to it evaluates it once more, where the user on a terminal is asked for it by name: told here as well it could not be.
 * One that ends before does nothing for which it would have to be accepted.
 */
function takenByName({ chain }: Context): readonly (typeof typhaOrderTaken)[] {
  return chain !== undefined && chain.later.length > 0 ? [] : [typhaOrderTaken];
}
