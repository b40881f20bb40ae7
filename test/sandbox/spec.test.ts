import { describeCluster } from '../spec/cluster-spec.ts';
import { openSandbox } from '../spec/open-sandbox.ts';

describeCluster('the cluster in memory', openSandbox);
