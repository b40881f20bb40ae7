import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { objectsIn } from '../../manifest/manifest.ts';
import { findCrds, readCrdFacts } from '../install-manifest/index.ts';
import { holdUndo, lagsWith, operatorEnd, operatorsWork, withOperated } from '../install-operator/index.ts';
import { chartScope } from '../rights/index.ts';
import type { TargetFacts } from '../survey/index.ts';
import { chartApply } from './apply.ts';
import { chartCrds } from './crds.ts';
import { chartOperatorImage, releasedOperatorImage } from './operator-image.ts';
import { releaseDocuments } from './release.ts';
import { renderedChart } from './rendered.ts';
import { readChartFacts } from './survey.ts';

/** Installed as a release of the operator's chart. */
export const chartPath = {
  apply: chartApply,
  undo: holdUndo,
  writesAgents: false,
  crds: chartCrds,
  end: operatorEnd(chartOperatorImage),
  apiWaits: operatorsWork(chartOperatorImage),
  lags: lagsWith(releasedOperatorImage),
  target: findCrds,
  written: releaseDocuments,
  /** Where the chart's operator installs the CRDs itself, this program applies none. */
  asked: async (_: unknown, { options }: Context, { documents }: TargetFacts): Promise<readonly KubeObject[]> =>
    options.manageCrds ? documents.filter(({ kind }) => kind !== K.CustomResourceDefinition.kind) : documents,
  images: (sources: Sources, context: Context, installation: Installation) =>
    withOperated(() => chartDocuments(sources, context, installation), sources, context, installation),
  async inGit(sources: Sources, context: Context, installation: Installation) {
    const { manageCrds } = context.options;
    const note = `The chart is no manifest: in Git, set its version to ${context.goal.release} and the values that the notes of this plan name.`;
    if (manageCrds) return { ...NOTHING, notes: [note, 'With --manage-crds the operator installs its CRDs itself: Git needs none.'] };
    const { crds } = await readCrdFacts(sources, context, installation);
    return { ...NOTHING, objects: objectsIn(crds.manifest), notes: [note] };
  },
  scope: chartScope,
  roleFlags: () => ['--path', 'chart'],
};

const NOTHING = { objects: [], removed: [] };

async function chartDocuments(sources: Sources, context: Context, installation: Installation) {
  const facts = await readChartFacts(sources, context, installation, 'earlier');
  return { documents: await renderedChart(sources, facts), unknown: [] };
}
