import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chain } from '../../src/features/chain.ts';
import { hepChecks } from '../../src/features/hosts/checks.ts';
import { applyChecks } from '../../src/features/install-manifest/apply-checks.ts';
import { forgetChecks, restoreChecks } from '../../src/features/ownerrefs/owner-restore-checks.ts';
import { removalChecks } from '../../src/features/policies/removal-checks.ts';
import { preflightChecks } from '../../src/features/preflight/catalogue.ts';
import { alpChecks } from '../../src/features/sidecars/checks.ts';
import { verifyChecks } from '../../src/features/verify/checks.ts';

/** One numbered step, rule or table row of the upgrade procedure, in our own words. */
interface ProcedureStep {
  /** `§4.4/2`: section, and the number within it (rows of a table are counted). */
  readonly ref: string;
  readonly asks: string;
  /** Which part of the program answers for it beyond the stages and checks that cite it. */
  readonly claims: readonly string[];
}

/** The procedure as a list: a line for each step, and below it its claims. */
export const procedure: readonly ProcedureStep[] = readFileSync(join(import.meta.dirname, '..', 'fixtures', 'procedure.txt'), 'utf8')
  .split(/\n(?=§)/)
  .map((text) => {
    const [first = '', ...claims] = text.trimEnd().split('\n');
    const [ref = '', ...asks] = first.split(' ');
    return { ref, asks: asks.join(' '), claims: claims.map((one) => one.trim()) };
  });

/** Who claims a step of the procedure: stages and checks that cite it, and its own claims. */
export function claimants(ref: string): readonly string[] {
  const owners = [...restoreChecks, ...forgetChecks];
  const cited = [...preflightChecks, ...applyChecks, ...owners, ...alpChecks, ...hepChecks, ...removalChecks, ...verifyChecks]
    .filter((check) => check.ref === ref)
    .map(({ id, title }) => `${id} ${title}`);
  const stages = chain.filter((stage) => stage.ref === ref).map(({ id }) => `stage \`${id}\``);
  // Several stages judge some of them.
  return [...stages, ...procedure.flatMap((step) => (step.ref === ref ? step.claims : [])), ...new Set(cited)];
}

export async function coverageText(): Promise<string> {
  const rows = procedure.map(({ ref, asks }) => `| ${ref} | ${asks} | ${claimants(ref).join('<br>')} |`);
  return [
    '# Coverage of the procedure',
    '',
    'Every numbered step and rule of the procedure, and which action or check claims it.',
    'Written by `node build/coverage.ts`; a test keeps it true.',
    '',
    '| Step | Asks | Claimed by |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
