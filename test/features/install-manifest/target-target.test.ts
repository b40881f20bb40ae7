import assert from 'node:assert/strict';
import { readTarget } from '../../../src/features/install-manifest/target.ts';
import type { Installation } from '../../../src/kernel/installation.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { installation, type Wanted } from '../../fixtures/facts.ts';
import { applyBench, ownDocuments } from '../../support/apply-bench.ts';
import { releases } from '../../support/releases.ts';
import { CALICO_TARGET, NETSVC_TARGET, pattern } from '../../support/target.ts';

const netsvcInstalled: Installation = { ...installation, variant: 'netsvc', release: 'v3.26.4', hasTypha: false };

const benchOf = (options: Wanted = {}) => applyBench([], { options });
const read = ({ sources, context }: ReturnType<typeof benchOf>, what = netsvcInstalled) => readTarget(sources, context, what);

describe('readTarget', () => {
  it('fetches the manifest of the installed variant and names it as the procedure does', async () => {
    const target = await read(benchOf());
    assert.deepEqual([target.file, target.release, target.addOns], ['upgrade.yaml', NETSVC_TARGET, []]);
    assert.match(target.url, pattern`${NETSVC_TARGET}/manifests/netsvc\.yaml$`);
    assert.equal(target.manifest.documents.length, (await ownDocuments(NETSVC_TARGET)).length);
  });

  it('fetches the manifests of what is installed beside it', async () => {
    const bench = applyBench([], { profile: calico, folder: releases, releases: [CALICO_TARGET], options: { release: CALICO_TARGET } });
    const target = await read(bench, { ...installation, hasApiServer: true });
    assert.deepEqual(
      target.addOns.map(({ id, file }) => [id, file]),
      [['apiserver', 'apiserver.yaml']],
    );
  });

  const text = async (release: string, file?: string) => (await ownDocuments(release, file)).map((one) => JSON.stringify(one));
  const cases = [
    { title: 'of another release', lines: () => text('v3.26.4'), says: pattern`is of v3\.26\.4 .*not of ${NETSVC_TARGET}` },
    {
      title: 'of another variant',
      lines: () => text(NETSVC_TARGET, 'netsvc-overlay.yaml'),
      says: /is of another variant than netsvc: .* has a container overlay/,
    },
    {
      title: 'that was cut off',
      lines: async () => (await text(NETSVC_TARGET)).slice(0, -1),
      says: /has no Deployment kube-system\/netsvc-kube-controllers/,
    },
    { title: 'that is no manifest', lines: async () => ['<html>Not found</html>'], says: /mine\.yaml:1: / },
  ];
  for (const { title, lines, says } of cases) {
    it(`refuses an --upgrade-file ${title} as wrong usage`, async () => {
      const bench = benchOf({ upgradeFile: 'mine.yaml' });
      bench.files.set('mine.yaml', (await lines()).join('\n---\n'));
      await assert.rejects(read(bench), (thrown: Error & { code?: string }) => thrown.code === 'usage' && says.test(thrown.message));
    });
  }

  it("takes a person's own file of the target, with their edits", async () => {
    const bench = benchOf({ upgradeFile: 'mine.yaml' });
    bench.files.set('mine.yaml', (await text(NETSVC_TARGET)).join('\n---\n').replace('"autodetect"', '"first-found"'));
    const target = await read(bench);
    assert.match(JSON.stringify(target.manifest.documents.map(({ object }) => object)), /"first-found"/);
    assert.match(target.sha256, /^[0-9a-f]{64}$/);
  });

  it('passes on that the artifact source does not have the release', async () => {
    await assert.rejects(read(benchOf({ release: 'v3.32.9' })), { name: 'Fault', message: /v3\.32\.9/ });
  });

  it('has none for a path without full manifests', async () => {
    const { variant: _, ...charted } = netsvcInstalled;
    await assert.rejects(read(benchOf(), { ...charted, path: 'chart' }), { name: 'Fault', code: 'blocked' });
  });
});
