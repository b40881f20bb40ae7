import assert from 'node:assert/strict';
import { storedManifests } from '../../../src/adapters/stored-bases.ts';
import { readWayBack } from '../../../src/features/install-manifest/way-back.ts';
import type { Context } from '../../../src/kernel/context.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import type { Sources } from '../../../src/kernel/ports.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf, installation } from '../../fixtures/facts.ts';

/** An upgrade that kept no edits. */
async function wayBack(wrote: readonly string[]) {
  const takesBack = { runId: 'r', from: 'v3.27.5', to: 'v3.32.1', wrote, startedAt: '2026-01-01T00:00:00Z' };
  const context: Context = {
    ...contextOf({ release: 'v3.27.5' }, calico),
    goal: { release: 'v3.27.5', takesBack },
    intent: { kind: 'rollback' },
  };
  const sources = { stored: storedManifests('calico'), records: {} } as unknown as Sources;
  return readWayBack(sources, context, { ...installation, variant: 'calico' }, [], takesBack);
}

describe('the way of a rollback', () => {
  it('is not known where the upgrade wrote its manifest and kept no edits: it had a finished file, or no base', async () => {
    await assert.rejects(
      wayBack(['crds', 'apply']),
      (thrown) =>
        thrown instanceof Fault &&
        thrown.code === 'blocked' &&
        /did not keep what v3\.27\.5 had of yours: .*--upgrade-file/.test(thrown.message) &&
        /RESTORE\.md/.test(`${thrown.suggestions}`),
    );
  });

  it('is from the former release to itself where the manifest was not written yet: what differs is the user’s', async () => {
    const { candidates, wanted } = await wayBack(['ownerrefs-strip']);
    assert.deepEqual([candidates.installed, candidates.first], ['v3.27.5', { release: 'v3.27.5', documents: [] }]);
    assert.deepEqual(wanted, []);
  });
});
