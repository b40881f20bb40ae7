import { chartChecks } from '../../checks/chart-catalogue.ts';
import type { Finding, Reading } from '../../core/check.ts';
import type { Context } from '../../core/context.ts';
import type { Detection } from '../../core/installation.ts';
import { judgeAll } from '../../core/judge.ts';
import type { Sources } from '../../core/ports.ts';
import { attempt } from '../reading.ts';
import { readChartFacts } from './survey.ts';

/** What `apply` would find now; undefined where there is no chart release. */
export async function readChartFindings(
  sources: Sources,
  context: Context,
  detection: Reading<Detection>,
): Promise<Reading<readonly Finding[] | undefined>> {
  if ('unread' in detection) return detection;
  const found = detection.value;
  if (found.type !== 'found' || found.installation.path !== 'chart') return { value: undefined };
  return attempt(async () => judgeAll(chartChecks, await readChartFacts(sources, context, found.installation, 'earlier'), context));
}
