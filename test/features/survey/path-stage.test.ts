import assert from 'node:assert/strict';
import { readInstalled } from '../../../src/features/survey/detect.ts';
import { type PathPart, type PathParts, pathPart, pathStage } from '../../../src/features/survey/path-stage.ts';
import { INSTALL_PATHS, type InstallPath } from '../../../src/kernel/installation.ts';
import { applyBench, installedClientSide } from '../../support/apply-bench.ts';

const STAGE = { id: 'crds', title: 'a stage', ref: '§4.3/2', readOnly: false, needs: [] } as const;

/** The same on every path but for what is said of the manifest's. */
const onAll = (other: PathPart | string, manifest: PathPart | string) =>
  ({ ...Object.fromEntries(INSTALL_PATHS.map((path) => [path, other])), manifest }) as PathParts;

describe('a stage that is another one on each installation path', () => {
  async function openOnManifest(part: (surveyed: string[]) => PathPart | string) {
    const surveyed: string[] = [];
    const one = pathStage({ ...STAGE, on: onAll('the operator does it', part(surveyed)) });
    const { sources, context } = applyBench(await installedClientSide('v3.26.4'));
    return { surveyed, plan: (await one.open(sources, context)).plan() };
  }

  it('is what it is on the path that was found, and is given the installation', async () => {
    const { surveyed, plan } = await openOnManifest((seen) =>
      pathPart<InstallPath>({
        checks: [],
        async survey(_sources, _context, { path }) {
          seen.push(path);
          return path;
        },
        plan: (path) => ({ skip: `planned on ${path}` }),
      }),
    );
    assert.deepEqual(plan, { skip: 'planned on manifest' });
    assert.deepEqual(surveyed, ['manifest']);
  });

  it('has the run remember what is installed, whichever stage writes first', async () => {
    const { plan } = await openOnManifest(() =>
      pathPart<InstallPath>({
        checks: [],
        survey: async (_sources, _context, { path }) => path,
        plan: () => ({ actions: [], remember: { digests: { 'crds.yaml': 'abc' } } }),
      }),
    );
    assert.ok(!('skip' in plan));
    const { path, source, digests } = plan.remember ?? {};
    assert.deepEqual({ path, source, digests }, { path: 'manifest', source: 'v3.26.4', digests: { 'crds.yaml': 'abc' } });
  });

  it('is skipped with its reason on a path that does without it', async () => {
    assert.deepEqual((await openOnManifest(() => 'the file holds them')).plan, { skip: 'the file holds them' });
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
