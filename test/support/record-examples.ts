import { readFileSync, writeFileSync } from 'node:fs';
import { allWithUndo } from '../../src/features/chain.ts';
import type { Check, Verdict } from '../../src/kernel/check.ts';
import { textAt } from '../../src/kernel/json.ts';
import { EXAMPLES, type Example } from './check-examples.ts';

/**
 * With `mocha --require`: notes for each check its shortest finding among all that the tests provoke. The pages of checks show it
 * (`node build/check-pages.ts`), with `ONLY=NS-409,NS-410` for these: others may be judged here without being provoked. Read the difference before you keep it: where a test names its things `x`, the noted example has a name that says more, by hand.
 */

const found = new Map<string, { example?: Example; severities: Set<string>; paths: Set<string> }>();

/** One with a subject shows more, then an error; of two such, the shorter one, and of equals always the same. Advice only where there is nothing else. */
function rankOf(example: Example): string {
  const text = JSON.stringify(example);
  const [about, outcome] = [example.evidence.length === 0 ? 1 : 0, ['error', 'warning', 'ok'].indexOf(example.outcome)];
  return `${outcome === 2 ? 2 : about} ${outcome} ${String(text.length).padStart(6, '0')} ${text}`;
}

function keep(seen: { example?: Example }, example: Example): void {
  if (seen.example === undefined || rankOf(example) < rankOf(seen.example)) seen.example = example;
}

function note(check: Check<never>, verdict: Verdict, facts: unknown): void {
  if (verdict.status === 'not-applicable') return;
  const seen = found.get(check.id) ?? { severities: new Set(), paths: new Set() };
  found.set(check.id, seen);
  const path = textAt(facts, 'installation', 'path') ?? textAt(facts, 'detection', 'value', 'installation', 'path');
  if (path !== undefined) seen.paths.add(path);
  if (verdict.status === 'ok' && verdict.isAdvice)
    keep(seen, { outcome: 'ok', aside: 'advice', message: verdict.detail ?? '', hint: '', evidence: [] });
  if (verdict.status !== 'failed') return;
  const { because: message, hint: said, fix, next, evidence = [], severity = check.severity } = verdict;
  seen.severities.add(severity);
  const shown = evidence.map(({ text, detail }) => ({ text, ...(detail === undefined ? {} : { detail }) }));
  const hint = [...[said].flat(), ...(fix === undefined ? [] : [`fix: ${fix}`])].join('\n');
  const example: Example = { outcome: severity, message, hint, evidence: shown, ...(next === undefined ? {} : { next: String(next) }) };
  keep(seen, example);
}

for (const check of allWithUndo.flatMap(({ checks }) => checks as readonly Check<never>[])) {
  const { judge } = check;
  Object.assign(check, {
    judge(facts: never, context: never) {
      const verdict = judge.call(check, facts, context);
      note(check, verdict, facts);
      return verdict;
    },
  });
}

process.on('exit', () => {
  // Of checks that no test of this run has judged, what is noted stays.
  const all = new Map<string, unknown>(Object.entries(JSON.parse(readFileSync(EXAMPLES, 'utf8'))));
  const { ONLY } = process.env;
  for (const [id, { example, severities, paths }] of found)
    if (ONLY === undefined || ONLY.split(',').includes(id))
      all.set(id, { example, severities: [...severities].sort(), paths: [...paths].sort() });
  const rows = [...all].sort(([one], [other]) => (one < other ? -1 : 1));
  const lines = rows.map(([id, row]) => `  ${JSON.stringify(id)}: ${JSON.stringify(row)}`);
  writeFileSync(EXAMPLES, `{\n${lines.join(',\n')}\n}\n`);
});
