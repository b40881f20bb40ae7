/** The face of this feature: all that other rooms may use of it. */

export { chartApply } from './apply.ts';
export { chartPreflightChecks } from './chart-preflight.ts';
export { chartCrds } from './crds.ts';
export { releaseDocuments } from './release.ts';
export { renderedChart } from './rendered.ts';
export { readChartFacts } from './survey.ts';
export { chartOperatorImage, chartWait, deployedOperatorImage } from './wait.ts';
export { type ChartAhead, readChartAhead } from './work.ts';
