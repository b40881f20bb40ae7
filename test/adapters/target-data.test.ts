import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { knownDigest } from '../../src/adapters/artifacts/known-digests.ts';
import { openStoredBases } from '../../src/adapters/stored-bases.ts';
import { manifestFile } from '../support/releases.ts';
import { CALICO_TARGET } from '../support/target.ts';

const FILES = ['calico.yaml', 'canal.yaml', 'calico-etcd.yaml', 'tigera-operator.yaml', 'operator-crds.yaml', 'apiserver.yaml'];

/** By what makes it (docs/internals/adding-a-release.md): whether the target is in it. The sums of its CLI may come later. */
const MADE_BY: Readonly<Record<string, () => Promise<readonly boolean[]>>> = {
  'build/release-digests.ts': () => Promise.all(FILES.map((file) => isKnown(`manifests/${file}`))),
  'build/base-data.ts': async () => [(await openStoredBases('calico'))?.documentsOf(CALICO_TARGET, 'calico.yaml') !== undefined],
  'build/test-releases.ts': async () => FILES.map((file) => existsSync(manifestFile(CALICO_TARGET, file))),
};

describe('the release that is the target unless said', () => {
  for (const [maker, look] of Object.entries(MADE_BY))
    it(`is in what ${maker} makes`, async () => {
      const found = await look();
      assert.ok(
        found.every((one) => one),
        `${CALICO_TARGET} is missing, at least in part: run ${maker}`,
      );
    });
});

async function isKnown(path: string): Promise<boolean> {
  return /^[0-9a-f]{64}$/.test((await knownDigest('calico', CALICO_TARGET, path)) ?? '');
}
