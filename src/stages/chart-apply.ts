import { chartChecks } from '../checks/chart-catalogue.ts';
import type { Action } from '../core/action.ts';
import type { Context } from '../core/context.ts';
import { Fault } from '../core/fault.ts';
import { type HelmUpgrade, helmUpgrade } from '../core/helm-argv.ts';
import type { Installation } from '../core/installation.ts';
import type { StagePlan } from '../core/stage.ts';
import { parseManifest } from '../merge/manifest.ts';
import { type ChartDifference, chartDifference } from './chart-objects.ts';
import { type ChartFacts, readChartFacts } from './chart-survey.ts';
import { pathWay } from './path-stage.ts';
import { crdActions } from './target-crds.ts';

/** The release of the operator's chart, upgraded by the chart tool (§4.2/2); CRDs that are still missing come right before it. */
export const chartApply = pathWay<ChartFacts>({
  paths: ['chart'],
  checks: chartChecks,
  survey: readChartFacts,
  plan: planChart,
});

function planChart(facts: ChartFacts, context: Context): StagePlan {
  const crds = facts.crds ? crdActions(facts.crds, context) : [];
  const actions = [...crds, ...(facts.upgraded ? [] : [upgradeAction(facts, context)])];
  if (actions.length === 0) return { skip: `${releaseText(facts.installation)} is at ${context.options.release}, with your values` };
  const difference = differenceOf(facts);
  return {
    actions,
    objects: [...(facts.crds?.previews.map(({ planned }) => planned) ?? []), ...(difference?.objects ?? [])],
    notes: notesOf(facts, difference),
    remember: {
      path: facts.installation.path,
      ...(facts.installation.release === undefined ? {} : { source: facts.installation.release }),
      digests: facts.crds ? { [context.profile.crdFile]: facts.crds.sha256 } : {},
    },
  };
}

function upgradeAction(facts: ChartFacts, context: Context): Action {
  return {
    id: 'chart',
    title: `upgrade ${releaseText(facts.installation)} to ${context.options.release}`,
    ref: '§4.2/2',
    // An older operator does not start on the new CRDs: going back with the chart tool alone leaves the service without one.
    undo: 'none',
    pointOfNoReturn: true,
    afresh: true,
    effect: { type: 'exec', run: helmUpgrade(agreed(facts)) },
  };
}

/** The upgrade as a person has agreed to it. What no acceptance can make right is refused here once more. */
function agreed({ upgrade, lostCrds, conflicts }: ChartFacts): HelmUpgrade {
  if (lostCrds.length > 0)
    throw new Fault('blocked', `helm would delete ${lostCrds.join(', ')} with all data`, ['mark them to be kept: see NS-236']);
  if (!upgrade) throw new Fault('blocked', 'the chart release, its chart or helm could not be read', ['see NS-231, NS-234 and NS-235']);
  const found = conflicts && 'value' in conflicts ? conflicts.value.length > 0 : false;
  return { ...upgrade, takeFields: found && upgrade.helm.major >= 4 };
}

function differenceOf({ stored, trial }: ChartFacts): ChartDifference | undefined {
  if ('unread' in stored || 'unread' in trial || trial.value.type !== 'accepted') return undefined;
  const before = parseManifest(stored.value.record.manifest, 'the stored release').documents.map(({ object }) => object);
  return chartDifference(before, trial.value.documents);
}

function notesOf({ upgrade, crds, upgraded }: ChartFacts, difference: ChartDifference | undefined): readonly string[] {
  if (upgraded) return [];
  return [
    ...(upgrade?.settings ?? []).map(({ value, to, because }) => `${value}=${to}: ${because}`),
    ...(crds ? [] : ['the new CRDs exist only after the new operator runs: new configuration cannot be applied until after the upgrade']),
    ...(difference && difference.removed.length > 0 ? [`helm deletes what the chart no longer has: ${difference.removed.join(', ')}`] : []),
  ];
}

function releaseText({ chart }: Installation): string {
  return chart ? `release ${chart.namespace}/${chart.name}` : 'the chart release';
}
