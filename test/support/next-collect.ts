import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { imagesPulled } from '../../src/features/images/stage.ts';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import { carriedHere } from '../../src/features/install-manifest/apply-checks.ts';
import { policyKeptHere } from '../../src/features/policies/removal-checks.ts';
import { templatesKeptHere } from '../../src/features/sidecars/checks.ts';
import type { Check, Finding } from '../../src/kernel/check.ts';
import { contextOf } from '../fixtures/facts.ts';
import { type ApplyBench, benches } from './apply-bench.ts';
import { runCasesOf } from './cases-of.ts';
import { type JudgedWorld, judgeAll, worlds } from './judged-worlds.ts';
import { benchWorld, judgedWorld, type NextWorld, PROGRAM } from './next-steps.ts';

const features = join(import.meta.dirname, '..', 'features');
/** Tests of the checks, and of the stage that writes on every path. */
const JUDGE = /support\/(?:check-cases|judged-worlds)\.ts/;
const BENCHES = '**/{apply,move,takeover,conflicts,edits,later-edits,unnoted,at-zero,alp,undo}.test.ts';

const OPEN: ReadonlySet<string> = new Set(['error', 'warning', 'expected']);

/** Every next step that a check says in its own tests, each once. */
export interface NextSteps {
  /** Commands of this program. */
  readonly ours: readonly NextWorld[];
  readonly others: readonly JudgedWorld[];
  /** Checks that a continued run explains. */
  readonly expected: ReadonlySet<string>;
}

export async function nextSteps(): Promise<NextSteps> {
  await judgeEverything();
  const ours = new Map<string, NextWorld>();
  const others = new Map<string, JudgedWorld>();
  const expected = new Set<string>();
  const add = (finding: Finding, our: (next: string) => NextWorld, other: () => JudgedWorld) => {
    const { id, next, outcome } = finding;
    if (outcome === 'expected') expected.add(id);
    const key = `${id} ${next}`;
    if (!OPEN.has(outcome) || next === undefined || ours.has(key) || others.has(key)) return;
    if (next.startsWith(PROGRAM)) ours.set(key, our(next));
    else others.set(key, other());
  };
  for (const world of worlds) {
    add(
      world.finding,
      () => judgedWorld(world),
      () => world,
    );
  }
  for (const bench of benches) {
    for (const finding of await foundOn(bench)) {
      add(
        finding,
        (next) => benchWorld(bench, { id: finding.id, next }),
        () => ({ facts: bench.around.objects(), finding }) as unknown as JudgedWorld,
      );
    }
  }
  return { ours: [...ours.values()], others: [...others.values()], expected };
}

async function judgeEverything(): Promise<void> {
  // Other files of tests may have run in this process; what they left must not decide what is followed here.
  worlds.length = 0;
  benches.length = 0;
  const judging = globSync(join(features, '**/*.test.ts')).filter((file) => JUDGE.test(readFileSync(file, 'utf8')));
  await runCasesOf([...new Set([...judging, ...globSync(join(features, BENCHES))])].map((file) => pathToFileURL(file)));
  // Tests of these see whole commands.
  const judged = (check: unknown, facts: unknown) => judgeAll([check as Check<unknown>], facts, contextOf());
  const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'kube-system', name: 'evil' };
  const carried = { files: { 'a.yaml': { changed: [], removed: ['ConfigMap/evil'] } } };
  judged(carriedHere, { target: { fromElsewhere: true, carried }, previews: [{ planned: { ref, change: 'create' } }] });
  judged(templatesKeptHere, { undo: true, restored: { value: 1 }, fromElsewhere: { value: [{ text: 'x' }] } });
  judged(policyKeptHere, { undo: true, fromElsewhere: [{ text: 'a', detail: 'b' }] });
  judged(imagesPulled, { probed: [{ node: 'n1', image: 'i', state: 'failed', because: 'b' }], unknown: [] });
}

const foundOn = async ({ sources, context }: ApplyBench) => {
  try {
    return (await applyStage.open(sources, context)).findings();
  } catch {
    return [];
  }
};
