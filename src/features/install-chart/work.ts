import type { Finding, Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { type ChartRelease, type Detection, type HelmStorage, isByChart } from '../../kernel/installation.ts';
import { judgeAll } from '../../kernel/judge.ts';
import { type KubeObject, objectKey } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { typhaOrderTaken } from '../install-operator/index.ts';
import { attempt, installationIn } from '../survey/index.ts';
import type { ChartFacts } from './chart-facts.ts';
import { chartChecks } from './chart-place.ts';
import { placedIn, recordedObjects } from './helm-record.ts';
import { removedObjects, renderedChart } from './rendered.ts';
import { readChartFacts } from './survey.ts';

/** What the chart tool does to the cluster in an upgrade, as far as its account must be allowed to. */
interface ChartWork {
  readonly namespace: string;
  readonly storage: HelmStorage;
  /** Objects that are there: of the revision that helm continues from, and of a failed one after it. */
  readonly installed: readonly KubeObject[];
  /** Objects that it creates or patches; none where the release is at the target already. */
  readonly written: readonly KubeObject[];
  /** Objects that it deletes: the revision that it continues from has them, and the new one no longer does. */
  readonly removed: readonly KubeObject[];
  readonly upgraded: boolean;
}

/** By the rendered chart; where it cannot be rendered, by what is installed. */
async function chartWork(sources: Pick<Sources, 'tools' | 'work'>, facts: ChartFacts, { namespace }: ChartRelease): Promise<ChartWork> {
  const { stored, upgraded } = facts;
  const placed = placedIn(namespace);
  const [before = [], newest = []] =
    'value' in stored ? [stored.value.base, stored.value.record].map((one) => recordedObjects(one).map(placed)) : [];
  const installed = [...new Map([...before, ...newest].map((one) => [objectKey(one), one])).values()];
  const common = { namespace, storage: 'value' in stored ? stored.value.storage : 'Secret', installed, upgraded } as const;
  if (upgraded) return { ...common, written: [], removed: [] };
  const rendered = await attempt(() => renderedChart(sources, facts));
  if ('unread' in rendered) return { ...common, written: installed, removed: [] };
  const written = rendered.value.map(placed);
  return { ...common, written, removed: removedObjects(before, written) };
}

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
  const installation = installationIn(detection);
  if (!installation || !isByChart(installation)) return { value: undefined };
  // A chain that reaches the check of Typha asks there, by name, so it is not reported here. One that ends before has nothing to accept.
  const order = context.chain !== undefined && context.chain.later.length > 0 ? [] : [typhaOrderTaken];
  return attempt(async () => {
    const facts = await readChartFacts(sources, context, installation, 'earlier');
    const work = installation.chart && (await chartWork(sources, facts, installation.chart));
    return { findings: judgeAll([...chartChecks, ...order], facts, context), work };
  });
}
