import assert from 'node:assert/strict';
import { readInstalled } from '../../../src/features/survey/detect.ts';
import { pathStage } from '../../../src/features/survey/path-stage.ts';
import type { InstallPath } from '../../../src/kernel/installation.ts';
import { applyBench, installedClientSide } from '../../support/apply-bench.ts';

describe('a stage of some installation paths', () => {
  async function openOnManifest(paths: readonly InstallPath[], needless?: Readonly<Partial<Record<InstallPath, string>>>) {
    const surveyed: string[] = [];
    const one = pathStage<InstallPath>({
      id: 'crds',
      title: 'a stage',
      ref: '§4.3/2',
      paths,
      ...(needless ? { needless } : {}),
      readOnly: false,
      checks: [],
      async survey(_sources, _context, { path }) {
        surveyed.push(path);
        return path;
      },
      plan: (path) => ({ skip: `planned on ${path}` }),
    });
    const { sources, context } = applyBench(await installedClientSide('v3.26.4'));
    return { surveyed, open: one.open(sources, context) };
  }

  it('acts on its paths, and is given the installation', async () => {
    const { surveyed, open } = await openOnManifest(['operator', 'manifest']);
    assert.deepEqual((await open).plan(), { skip: 'planned on manifest' });
    assert.deepEqual(surveyed, ['manifest']);
  });

  it('has the run remember what is installed, whichever stage writes first', async () => {
    const one = pathStage<InstallPath>({
      ...{ id: 'crds', title: 'a stage', ref: '§4.3/2', paths: ['manifest'], readOnly: false, checks: [] },
      survey: async (_sources, _context, { path }) => path,
      plan: () => ({ actions: [], remember: { digests: { 'crds.yaml': 'abc' } } }),
    });
    const { sources, context } = applyBench(await installedClientSide('v3.26.4'));
    const plan = (await one.open(sources, context)).plan();
    assert.ok(!('skip' in plan));
    const { path, source, digests } = plan.remember ?? {};
    assert.deepEqual({ path, source, digests }, { path: 'manifest', source: 'v3.26.4', digests: { 'crds.yaml': 'abc' } });
  });

  it('is skipped with its reason on a path that does without it, and reads nothing for it', async () => {
    const { surveyed, open } = await openOnManifest(['operator'], { manifest: 'the file holds them' });
    assert.deepEqual((await open).plan(), { skip: 'the file holds them' });
    assert.deepEqual(surveyed, []);
  });

  it('refuses on a path that nobody has thought of: nothing is skipped that may be needed', async () => {
    const { open } = await openOnManifest(['operator'], { chart: 'the chart does it' });
    await assert.rejects(open, { code: 'blocked', message: /crds has no part for an installation by manifest/ });
  });
});

describe('a cluster without the service', () => {
  it('is refused naming the profile, and how to name another', async () => {
    const { sources, context } = applyBench([]);
    await assert.rejects(readInstalled(sources, context), (thrown: Error & { code?: string; suggestions?: readonly string[] }) => {
      assert.equal(thrown.code, 'blocked');
      assert.match(thrown.message, / \(profile netsvc\)$/);
      assert.match(thrown.suggestions?.[0] ?? '', /^leave --profile out/);
      return true;
    });
  });
});
