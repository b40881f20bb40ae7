import { operatedCluster } from '../support/operated-cluster.ts';
import { releases } from '../support/releases.ts';
import { describeResumed } from '../support/resumed-story.ts';
import { CALICO_TARGET } from '../support/target.ts';

describeResumed({
  by: 'the operator',
  open: (manner) => operatedCluster(manner, { apiServer: true }),
  flags: () => ['--profile', 'calico', '--release', CALICO_TARGET, '--manifest-url', releases],
  first: [/serverside-applied/, /wait for Deployment\/tigera-operator/],
});
