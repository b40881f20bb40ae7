import { describeChainSweep } from '../support/describe-chain-sweep.ts';

describeChainSweep('each read of the second half', (points) => {
  const reads = points.filter(({ isRead }) => isRead);
  return reads.slice(Math.ceil(reads.length / 2));
});
