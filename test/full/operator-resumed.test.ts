import { operatedCluster } from '../support/operated-cluster.ts';
import { releases } from '../support/releases.ts';
import { describeResumed } from '../support/resumed-story.ts';

describeResumed({
  by: 'the operator',
  open: (manner) => operatedCluster(manner, { apiServer: true }),
  flags: () => ['--profile', 'calico', '--release', 'v3.32.1', '--manifest-url', releases],
  first: [/serverside-applied/, /wait for Deployment\/tigera-operator/],
});
