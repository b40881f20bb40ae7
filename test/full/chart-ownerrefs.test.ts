import { chartCluster, flagsOf } from '../support/chart-cluster.ts';
import { describeOperatedOwners } from '../support/describe-operated-owners.ts';
import { needsHelm } from '../support/needs-helm.ts';

describeOperatedOwners({
  title: 'where a chart brings the operator',
  start: async (context) => chartCluster(await needsHelm(context, 3), { operator: { mode: 'well', pace: 0.1 }, apiServer: true }),
  flags: (cluster) => ['--yes', ...flagsOf(cluster)],
});
