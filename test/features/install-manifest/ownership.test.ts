import assert from 'node:assert/strict';
import { comparable } from '../../../src/manifest/prepare.ts';
import { type ApplyBench, applyBench, installedClientSide, openApply, ownDocuments, planned, upgrade } from '../../support/apply-bench.ts';

const benchOf = async (ownership: 'first' | 'kubectl') =>
  applyBench(await installedClientSide('v3.26.4'), { options: { ownership }, kubectlMigrates: ownership === 'kubectl' });

async function notesOf(bench: ApplyBench): Promise<string> {
  const plan = (await openApply(bench)).plan();
  return 'skip' in plan ? '' : (plan.notes ?? []).join('\n');
}

describe('the ownership of what was applied client-side', () => {
  it('is left to kubectl where a person wants it so: no patch is planned, and what that means is said', async () => {
    const bench = await benchOf('kubectl');
    const actions = await planned(bench);
    assert.deepEqual(
      actions.filter(({ effect }) => effect.type === 'patch-all'),
      [],
    );
    assert.deepEqual(
      actions.map(({ id }) => id),
      ['save', 'wave-all', 'wait-all'],
    );
    assert.match(await notesOf(bench), /^kubectl takes over field ownership of 17 objects after its first write: .* rolled twice$/m);
    assert.match(await notesOf(await benchOf('first')), /^field ownership of 17 objects is taken over first/m);
  });

  it('leads to the same objects both ways, and to nothing left to do', async () => {
    const [first, kubectl] = await Promise.all([benchOf('first'), benchOf('kubectl')]);
    for (const bench of [first, kubectl]) {
      await upgrade(bench);
      assert.ok('skip' in (await openApply(bench)).plan());
    }
    for (const { kind, metadata } of await ownDocuments('v3.32.2')) {
      const [one, other] = [first, kubectl].map(({ around }) => around.object(kind, metadata.name));
      assert.ok(one && other);
      assert.deepEqual(comparable(one), comparable(other), `${kind}/${metadata.name}`);
    }
  });
});
