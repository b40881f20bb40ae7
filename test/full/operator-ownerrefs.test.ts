import { describeOperatedOwners } from '../support/describe-operated-owners.ts';
import { operatedCluster } from '../support/operated-cluster.ts';
import { releases } from '../support/releases.ts';
import { CALICO_TARGET } from '../support/target.ts';

describeOperatedOwners({
  title: 'where an operator upgrades',
  start: () => operatedCluster({ mode: 'well', pace: 0.1 }, { apiServer: true }),
  flags: () => ['--yes', '--profile', 'calico', '--release', CALICO_TARGET, '--manifest-url', releases],
});
