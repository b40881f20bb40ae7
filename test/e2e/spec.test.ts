import { describeCluster } from '../spec/cluster-spec.ts';
import { openControlPlane } from '../spec/open-control-plane.ts';

describe('the specification of the sandbox', function () {
  this.timeout(90_000);
  describeCluster('a real control plane', openControlPlane);
});
