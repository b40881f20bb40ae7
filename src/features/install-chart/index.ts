/** The face of this feature: all that other rooms may use of it. */

export { chartApply } from './apply.ts';
export { chartCrds, chartOperatorImage, deployedOperatorImage } from './around.ts';
export { chartPreflightChecks } from './chart-checks.ts';
export { releaseDocuments } from './release.ts';
export { renderedChart } from './rendered.ts';
export { readChartFacts } from './survey.ts';
export { type ChartAhead, readChartAhead } from './work.ts';
