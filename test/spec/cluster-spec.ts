import { describeApply } from './spec-apply.ts';
import type { SpecCluster } from './spec-cluster.ts';
import { describeRollout } from './spec-rollout.ts';
import { describeWrites } from './spec-writes.ts';

/** One specification for the cluster in memory and for a real control plane; where they differ, the real one is right. */
export function describeCluster(name: string, open: () => Promise<SpecCluster>): void {
  describe(name, () => {
    let opened: SpecCluster;
    before(async function () {
      this.timeout(600_000); // a real control plane may have to be built
      opened = await open();
    });
    after(() => opened?.close());
    describeWrites(() => opened);
    describeApply(() => opened);
    describeRollout(() => opened);
  });
}
