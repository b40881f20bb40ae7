import { chain } from '../../src/features/chain.ts';
import { claims } from '../../src/features/claims.ts';
import { hepChecks } from '../../src/features/hosts/checks.ts';
import { applyChecks } from '../../src/features/install-manifest/apply-checks.ts';
import { forgetChecks, restoreChecks } from '../../src/features/ownerrefs/owner-restore-checks.ts';
import { removalChecks } from '../../src/features/policies/removal-checks.ts';
import { preflightChecks } from '../../src/features/preflight/catalogue.ts';
import { alpChecks } from '../../src/features/sidecars/checks.ts';
import { verifyChecks } from '../../src/features/verify/checks.ts';
import { procedure } from './procedure.ts';

/** Who claims a step of the procedure: stages and checks that cite it, the claims list, or a stage still to come. */
export function claimants(ref: string): { readonly now: readonly string[]; readonly later: readonly string[] } {
  const owners = [...restoreChecks, ...forgetChecks];
  const cited = [...preflightChecks, ...applyChecks, ...owners, ...alpChecks, ...hepChecks, ...removalChecks, ...verifyChecks]
    .filter((check) => check.ref === ref)
    .map(({ id, title }) => `${id} ${title}`);
  // Several stages judge some of them.
  const checks = [...new Set(cited)];
  const stages = chain.filter((stage) => stage.ref === ref).map(({ id }) => `stage \`${id}\``);
  const claimed = claims.filter((claim) => claim.ref === ref);
  return {
    now: [...stages, ...claimed.flatMap(({ by }) => (by === undefined ? [] : [by])), ...checks],
    later: [...claimed.flatMap(({ later }) => (later === undefined ? [] : [later]))],
  };
}

export async function coverageText(): Promise<string> {
  const rows = procedure.map(({ ref, asks }) => {
    const { now, later } = claimants(ref);
    const who = [...now, ...later.map((stage) => `*to come: ${stage}*`)].join('<br>');
    return `| ${ref} | ${asks} | ${who} |`;
  });
  return [
    '# Coverage of the procedure',
    '',
    'Every numbered step and rule of the procedure, and which action or check claims it. *To come* names the stage that a later version adds.',
    'Written by `node build/coverage.ts`; a test keeps it true.',
    '',
    '| Step | Asks | Claimed by |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
