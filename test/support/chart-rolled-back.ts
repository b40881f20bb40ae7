import { type ChartCluster, flagsOf, sharedChartCluster } from './chart-cluster.ts';
import { manifestFile, releases } from './releases.ts';

export const FROM = 'v3.30.7';
const CHART = { version: FROM, operator: 'v1.38.13', isNew: true } as const;
export const BACK = ['rollback', '--yes', '--accept', 'NS-301', '--profile', 'calico', '--manifest-url', releases] as const;

export const runOf = (cluster: ChartCluster) => ['run', '--yes', '--skip', 'cli', '--accept', 'NS-301', ...flagsOf(cluster)];

/** One for the tests of a suite, before its upgrade. */
export const sharedOldChart = () =>
  sharedChartCluster(3, { chart: CHART, crds: manifestFile(FROM, 'operator-crds.yaml'), operator: { mode: 'well', pace: 0.1 } });
