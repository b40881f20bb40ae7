import { canaryOn } from './canary.ts';
import { fleetOf } from './fleet.ts';
import { foreignText } from './foreign-text.ts';
import { machineText, type Section } from './measure.ts';
import { mergeLargest } from './merge.ts';
import { oneRequest } from './one-request.ts';
import { ownerScan } from './owner-scan.ts';
import { ownerStrip } from './owner-strip.ts';
import { planAndDiff } from './plan.ts';
import { rollbackOn } from './rollback.ts';
import { startUp } from './start-up.ts';
import { waitOn } from './wait.ts';
import { wholeChain } from './whole-chain.ts';

/**
 * `npm run bench [-- start-up|one-request|chain|wait|canary|fleet|rollback|merge|plan|owner-scan|owner-strip|foreign-text …]`: the machine and tables on stdout, to be put into
 * docs/internals/performance.md with what they say. `--nodes=5` measures the whole chain, the wait, the canary, the fleet or the rollback on this many nodes.
 */
const benches: Readonly<Record<string, () => Promise<Section>>> = {
  'start-up': startUp,
  'one-request': oneRequest,
  chain: () => wholeChain(sizesOr([5, 100]), 3),
  wait: () => waitOn(sizesOr([1000])[0] ?? 1000),
  canary: () => canaryOn(sizesOr([20])[0] ?? 20),
  fleet: () => fleetOf(sizesOr([1000, 5000])),
  rollback: () => rollbackOn(sizesOr([20])[0] ?? 20, 3),
  merge: mergeLargest,
  plan: planAndDiff,
  'owner-scan': () => ownerScan(100_000),
  'owner-strip': () => ownerStrip(10_000),
  'foreign-text': foreignText,
};

function sizesOr(usual: readonly number[]): readonly number[] {
  const asked = process.argv.find((argument) => argument.startsWith('--nodes='));
  return asked === undefined ? usual : [Number(asked.slice('--nodes='.length))];
}

const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
process.stdout.write(`Measured ${new Date().toISOString().slice(0, 10)} on ${machineText()}.\n\n`);
for (const [name, bench] of Object.entries(benches)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  process.stderr.write(`${name} …\n`);
  const section = await bench();
  process.stdout.write(`## ${section.title}\n\nAim: ${section.aim}\n\n${section.lines.join('\n')}\n\n`);
}
