/** The face of this feature: all that other rooms may use of it. */

export { chartApply } from './apply.ts';
export { chartPreflightChecks } from './chart-checks.ts';
export { chartOperatorImage, deployedOperatorImage, isDeployed } from './operator-image.ts';
export { releaseDocuments } from './release.ts';
export { renderedChart } from './rendered.ts';
export { readChartFacts } from './survey.ts';
export { type ChartAhead, readChartAhead } from './work.ts';
