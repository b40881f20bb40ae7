import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { objectsIn } from '../../manifest/manifest.ts';
import { findCrds, readCrdFacts } from '../install-manifest/index.ts';
import { GIT_WITHOUT_CRDS, holdUndo, lagsWith, operatorEnd, operatorsWork, withOperated, withoutCrds } from '../install-operator/index.ts';
import { chartScope } from '../rights/index.ts';
import { eitherWay, type TargetFacts } from '../survey/index.ts';
import { chartApply } from './apply.ts';
import { chartBack } from './apply-back.ts';
import { chartCrds, leavesCrds } from './crds.ts';
import { recordedObjects } from './helm-record.ts';
import { chartOperatorImage, readFormerOf, releasedOperatorImage } from './operator-image.ts';
import { releaseDocuments } from './release.ts';
import { renderedChart } from './rendered.ts';
import { readChartFacts } from './survey.ts';

/** Installed as a release of the operator's chart. */
export const chartPath = {
  apply: eitherWay(chartApply, chartBack),
  undo: holdUndo,
  writesAgents: false,
  crds: chartCrds,
  end: operatorEnd(chartOperatorImage),
  apiWaits: operatorsWork(chartOperatorImage),
  lags: lagsWith(releasedOperatorImage),
  judgedTarget: findCrds,
  files: ({ profile }: Context) => [profile.crdFile],
  written: releaseDocuments,
  /** Where the chart's operator installs the CRDs itself, this program applies none. */
  asked: async (_: unknown, context: Context, { documents }: TargetFacts, installation: Installation): Promise<readonly KubeObject[]> =>
    leavesCrds(context, installation) ? withoutCrds(documents) : documents,
  images: (sources: Sources, context: Context, installation: Installation) =>
    withOperated(() => chartDocuments(sources, context, installation), sources, context, installation),
  async inGit(sources: Sources, context: Context, installation: Installation) {
    const note = `The chart is no manifest: in Git, set its version to ${context.goal.release} and the values that the notes of this plan name.`;
    if (context.goal.takesBack) return { ...NOTHING, notes: [note] };
    if (leavesCrds(context, installation)) return { ...NOTHING, notes: [note, GIT_WITHOUT_CRDS] };
    const { crds } = await readCrdFacts(sources, context, installation);
    return { ...NOTHING, objects: objectsIn(crds.manifest), notes: [note] };
  },
  scope: chartScope,
  roleFlags: ({ path }: Installation) => ['--path', path],
};

const NOTHING = { objects: [], removed: [] };

async function chartDocuments(sources: Sources, context: Context, installation: Installation) {
  if (context.goal.takesBack) {
    const former = await readFormerOf(sources.cluster, context, installation);
    return { documents: former ? recordedObjects(former) : [], unknown: [] };
  }
  const facts = await readChartFacts(sources, context, installation, 'earlier');
  return { documents: await renderedChart(sources, facts), unknown: [] };
}
