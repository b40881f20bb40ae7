import { describeChainSweep } from '../support/describe-chain-sweep.ts';

describeChainSweep('each write and watch, those of kubectl included', (points) => points.filter(({ isRead }) => !isRead));
