import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKS_INDEX, checksIndex, freeIds } from '../../../build/checks-index.ts';
import { allWithUndo, checkTitles } from '../../../src/features/chain.ts';
import { backChecks, labelChecks } from '../../../src/features/going-back/checks.ts';
import { hepChecks } from '../../../src/features/hosts/checks.ts';
import { agentStarts, imagesPulled } from '../../../src/features/node-probe/stage.ts';
import { forgetChecks, restoreChecks } from '../../../src/features/ownerrefs/owner-restore-checks.ts';
import { removalChecks } from '../../../src/features/policies/removal-checks.ts';
import { aheadOfApply, preflightChecks } from '../../../src/features/preflight/catalogue.ts';
import { alpChecks, undoChecks } from '../../../src/features/sidecars/checks.ts';
import { resourcesChecks } from '../../../src/features/verify/resources-checks.ts';
import { judgeAll } from '../../../src/kernel/judge.ts';
import { netsvc } from '../../../src/profiles/netsvc.ts';
import { contextOf, healthy, unread } from '../../fixtures/facts.ts';
import { procedure, stepOf } from '../../support/coverage.ts';

const pageOf = (id: string) => `docs/reference/checks/${id}.md`;
const root = join(import.meta.dirname, '..', '..', '..');
const ids = Object.keys(checkTitles);
/** Checks of the stages after the upgrade, which the preflight does not judge. */
const followUps: ReadonlySet<string> = new Set(
  [
    ...[...hepChecks, ...removalChecks, ...alpChecks, ...undoChecks, ...restoreChecks, ...forgetChecks],
    ...[imagesPulled, agentStarts, ...backChecks, ...labelChecks],
    ...resourcesChecks.filter(({ id }) => id.startsWith('NS-7')),
  ].map((check) => check.id),
);

/** What `apply` will stop at is judged by its own checks; where they have no target to judge, NS-601 says why. */
/** Told by preflight alone, for a chain asks for it by name later. */
const ORDER = 'NS-251';
const ahead = new Set<string>(aheadOfApply.map(({ id }) => id));

describe('the catalogue of checks', () => {
  it('has at least forty checks, each id once', () => {
    const used = preflightChecks.map((check) => check.id);
    assert.ok(used.length >= 40, `${used.length}`);
    assert.equal(new Set(used).size, used.length);
  });

  it('gives one title to one id, wherever it is judged, and one id to one title', () => {
    const named = new Set(allWithUndo.flatMap(({ checks }) => checks).map(({ id, title }) => `${id} ${title}`));
    assert.equal(named.size, ids.length);
    assert.equal(new Set(Object.values(checkTitles)).size, ids.length);
  });

  it('keeps the ranges of other stages free', () => {
    const foreign = preflightChecks.filter(({ id }) => /^NS-[23]/.test(id) && !ahead.has(id) && id !== ORDER).map(({ id }) => id);
    assert.deepEqual(foreign, []);
  });

  it('uses every id of the preflight families', () => {
    const used = new Set<string>(preflightChecks.map((check) => check.id));
    assert.deepEqual(
      ids.filter((id) => !/^NS-[23]/.test(id) && !followUps.has(id) && !used.has(id)),
      [],
    );
  });

  it('offers ids for new checks that nothing ever had, one of each family', () => {
    assert.deepEqual(
      freeIds().map((id) => [id.slice(0, 4), ids.includes(id)]),
      [...'0123456789'].map((digit) => [`NS-${digit}`, false]),
    );
  });

  it('has a page for every id and an id for every page', () => {
    const pages = readdirSync(join(root, 'docs', 'reference', 'checks')).filter((file) => file.startsWith('NS-'));
    assert.deepEqual(pages.map((file) => `docs/reference/checks/${file}`).sort(), ids.map(pageOf).sort());
  });

  it('heads every page with its id and title and says what to do', () => {
    for (const id of ids) {
      const text = readFileSync(join(root, pageOf(id)), 'utf8');
      assert.ok(text.startsWith(`# ${id} ${checkTitles[id]}\n`), id);
      for (const part of ['**Found when**', '**Matters**', '**Fix**', '**Accept**']) assert.ok(text.includes(part), `${id} ${part}`);
    }
  });

  it('indexes every page: node build/checks-index.ts', () => assert.equal(readFileSync(CHECKS_INDEX, 'utf8'), checksIndex()));

  it('cites the procedure only by steps that it has', () => {
    const steps = new Set<string>(procedure.map(({ ref }) => stepOf(ref)));
    const refs = preflightChecks.map((check) => check.ref).filter((ref) => ref.startsWith('§'));
    assert.deepEqual(
      refs.filter((ref) => !steps.has(ref)),
      [],
    );
  });

  it('never passes a check whose facts could not be read', () => {
    const passed = judgeAll(preflightChecks, unread, contextOf()).filter(({ outcome }) => outcome === 'ok' || outcome === 'not-applicable');
    assert.deepEqual(
      passed.map(({ id }) => id).filter((id) => !ahead.has(id)),
      [],
    );
  });

  it('finds nothing wrong with a healthy cluster', () => {
    const findings = judgeAll(preflightChecks, healthy, contextOf()).filter(
      ({ outcome }) => outcome !== 'ok' && outcome !== 'not-applicable',
    );
    assert.deepEqual(
      findings.map(({ id, message }) => `${id} ${message}`),
      [],
    );
  });

  it('says a hint and the next command with every finding, in every profile', () => {
    for (const profile of [undefined, netsvc]) {
      for (const finding of judgeAll(preflightChecks, unread, contextOf({}, profile))) {
        if (ahead.has(finding.id)) continue;
        assert.ok(finding.hint, finding.id);
        assert.ok(finding.next, finding.id);
      }
    }
  });
});
