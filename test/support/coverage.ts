import { chain } from '../../src/features/chain.ts';
import { hepChecks } from '../../src/features/hosts/checks.ts';
import { applyChecks } from '../../src/features/install-manifest/apply-checks.ts';
import { forgetChecks, restoreChecks } from '../../src/features/ownerrefs/owner-restore-checks.ts';
import { removalChecks } from '../../src/features/policies/removal-checks.ts';
import { preflightChecks } from '../../src/features/preflight/catalogue.ts';
import { alpChecks } from '../../src/features/sidecars/checks.ts';
import { verifyChecks } from '../../src/features/verify/checks.ts';
import { claims } from './claims.ts';
import { procedure } from './procedure.ts';

/** Who claims a step of the procedure: stages and checks that cite it, and the claims list. */
export function claimants(ref: string): readonly string[] {
  const owners = [...restoreChecks, ...forgetChecks];
  const cited = [...preflightChecks, ...applyChecks, ...owners, ...alpChecks, ...hepChecks, ...removalChecks, ...verifyChecks]
    .filter((check) => check.ref === ref)
    .map(({ id, title }) => `${id} ${title}`);
  const stages = chain.filter((stage) => stage.ref === ref).map(({ id }) => `stage \`${id}\``);
  // Several stages judge some of them.
  return [...stages, ...claims.filter((claim) => claim.ref === ref).map(({ by }) => by), ...new Set(cited)];
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
