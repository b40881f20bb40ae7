import assert from 'node:assert/strict';
import { openStoredBases, type StoredBases } from '../../src/adapters/stored-bases.ts';
import type { KubeObject } from '../../src/core/object.ts';
import { sameMinor } from '../../src/core/release.ts';
import { mergeWithNearest } from '../../src/merge/rank-bases.ts';
import { calico } from '../../src/profiles/calico.ts';

const TARGET = 'v3.32.1';

/** As the stages compare them: definitions come from the target whole, Jobs are left out. */
const compared = (documents: readonly KubeObject[] = []) =>
  documents.filter(({ kind }) => kind !== 'CustomResourceDefinition' && kind !== 'Job');

/** With one variable of a person's own in the first container that is found. */
function withOwnVariable(documents: readonly KubeObject[]): readonly KubeObject[] {
  const text = JSON.stringify(documents);
  const edited = text.replace('"env":[', '"env":[{"name":"OWN_VARIABLE","value":"1"},');
  assert.notEqual(edited, text);
  return JSON.parse(edited) as readonly KubeObject[];
}

/** So many of a file's releases, from the oldest to the newest. */
const SAMPLE = 3;
const some = (all: readonly string[]) => all.filter((_, index) => index % Math.ceil(all.length / SAMPLE) === 0);

describe('manifests of the stored releases', function () {
  this.timeout(120_000);
  let stored: StoredBases;
  before(async () => {
    stored = (await openStoredBases('calico')) ?? assert.fail('nothing stored');
  });

  function merged(file: string, release: string, mine: readonly KubeObject[]) {
    const candidates = stored.releasesOf(file).map((one) => ({ release: one, documents: compared(stored.documentsOf(one, file)) }));
    const theirs = stored.documentsOf(TARGET, file) ?? [];
    return mergeWithNearest({ mine, mineIs: 'last-applied', theirs, knowledge: calico.merge }, candidates, release);
  }

  for (const { file } of [...calico.variants, calico.operator]) {
    it(`have no edits and nothing to decide as they are: ${file}`, () => {
      for (const release of some(stored.releasesOf(file))) {
        const found = merged(file, release, compared(stored.documentsOf(release, file)));
        assert.deepEqual([release, found?.result.edits, found?.result.conflicts], [release, [], []]);
      }
    });

    it(`have that one edit with a variable of a person's own, and ask about patch releases at most: ${file}`, () => {
      for (const release of some(stored.releasesOf(file))) {
        const found = merged(file, release, withOwnVariable(compared(stored.documentsOf(release, file))));
        const { edits = [], conflicts = [] } = found?.result ?? {};
        const told = edits.filter(({ outcome }) => outcome !== 'conflict');
        assert.deepEqual(
          told.map(({ path, outcome }) => [release, outcome, path.slice(path.lastIndexOf('.') + 1)]),
          [[release, 'kept', 'env[OWN_VARIABLE]']],
        );
        for (const { because } of conflicts) {
          const [asked = ''] = /(?<=was installed: ).*(?=\.$)/.exec(because) ?? assert.fail(because);
          assert.ok(
            asked.split(', ').every((one) => sameMinor(one, release)),
            `${release}: ${because}`,
          );
        }
      }
    });
  }
});
