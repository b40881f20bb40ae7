import { alpPlan } from './alp-plan.ts';
import { hostEndpointPlan, labelCopies, servedHostEndpointPlan } from './host-endpoints.ts';
import { mergeLargest } from './merge.ts';
import { oneRequest } from './one-request.ts';
import { ownerScan, ownerScanServed } from './owner-scan.ts';
import { ownerStrip } from './owner-strip.ts';
import { planAndDiff } from './plan.ts';
import { machineText, type Section } from './report.ts';
import { startUp } from './start-up.ts';
import { stateStore } from './state.ts';
import { waitServed, waitThousand } from './wait-thousand.ts';
import { wholeChain } from './whole-chain.ts';

/**
 * `npm run bench [-- start-up|one-request|chain|wait|merge|plan|owner-scan|owner-strip|state …]`: the machine and tables on stdout, to be put into
 * docs/internals/performance.md with what they say. `--nodes=5` measures the whole chain on this many nodes alone.
 */
const benches: Readonly<Record<string, () => Promise<Section>>> = {
  'start-up': startUp,
  'one-request': oneRequest,
  chain: () => wholeChain(sizesOr([5, 100]), 3),
  wait: () => waitThousand(sizesOr([1000])[0] ?? 1000),
  'wait-served': () => waitServed(sizesOr([5000])[0] ?? 5000),
  'alp-plan': () => alpPlan(20_000),
  'hep-plan': hostEndpointPlan,
  'hep-served': servedHostEndpointPlan,
  'label-copies': () => labelCopies(5000, 50),
  merge: mergeLargest,
  plan: planAndDiff,
  'owner-scan': () => ownerScan(100_000),
  'owner-served': () => ownerScanServed([100_000, 1_000_000]),
  'owner-strip': () => ownerStrip(10_000),
  state: stateStore,
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
  process.stdout.write(`## ${section.title}\n\n${section.lines.join('\n')}\n\n`);
}
