import { describeChainSweep } from '../support/describe-chain-sweep.ts';

describeChainSweep('each read of the first half', (points) => {
  const reads = points.filter(({ isRead }) => isRead);
  return reads.slice(0, Math.ceil(reads.length / 2));
});
