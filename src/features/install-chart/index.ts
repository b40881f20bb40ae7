/** The face of this feature: all that other rooms may use of it. */

export { chartPreflightChecks } from './chart-checks.ts';
export { whyNoFormer } from './former.ts';
export { chartPath } from './path.ts';
export { type ChartAhead, readChartAhead } from './work.ts';
