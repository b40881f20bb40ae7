import { type ChartCluster, chartCluster, flagsOf } from '../support/chart-cluster.ts';
import { needsHelm } from '../support/needs-helm.ts';
import { describeResumed } from '../support/resumed-story.ts';

describeResumed({
  by: 'its chart with helm 3',
  open: async (manner, context) => chartCluster(await needsHelm(context, 3), { operator: manner, apiServer: true }),
  flags: (cluster) => flagsOf(cluster as ChartCluster),
  first: [/serverside-applied/, /has been upgraded/],
});
