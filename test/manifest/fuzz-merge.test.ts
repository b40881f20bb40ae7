import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { KubeObject } from '../../src/kernel/object.ts';
import { carriedText, differences } from '../../src/manifest/carried-file.ts';
import { changedFields } from '../../src/manifest/definition-differences.ts';
import { imageList, imagesIn } from '../../src/manifest/images.ts';
import { manifestText, parseManifest } from '../../src/manifest/manifest.ts';
import { mergeManifest } from '../../src/manifest/merge.ts';
import { prepared } from '../../src/manifest/prepare.ts';
import { anything, FUZZ_RUNS, own, valueOrFault } from '../support/fuzz.ts';
import { knowledge } from '../support/merge-cases.ts';

const KINDS = ['DaemonSet', 'Deployment', 'ConfigMap', 'Secret', 'ClusterRole', 'Service', 'CustomResourceDefinition', 'Job'] as const;

/** Whole as objects, and of any shape within; several may have one name. */
const object = fc
  .tuple(
    fc.constantFrom(...KINDS),
    fc.constantFrom('a', 'b'),
    fc.array(fc.tuple(fc.constantFrom('spec', 'data', 'rules', 'stringData', 'x'), anything)),
  )
  .map(([kind, name, fields]): KubeObject => {
    const metadata = { name, namespace: 'kube-system' };
    return { ...own(fields), apiVersion: kind === 'DaemonSet' || kind === 'Deployment' ? 'apps/v1' : 'v1', kind, metadata };
  });
const manifest = fc.array(object, { maxLength: 4 }).map((objects) => JSON.parse(JSON.stringify(objects)) as readonly KubeObject[]);

const once = (objects: readonly KubeObject[]) => [...new Map(objects.map((one) => [`${one.kind}/${one.metadata.name}`, one])).values()];

describe('objects of any shape', () => {
  it('are merged, or refused in words', () => {
    fc.assert(
      fc.property(manifest, manifest, manifest, (base, mine, theirs) => {
        valueOrFault(() => mergeManifest({ base, mine, theirs, knowledge }));
      }),
      { numRuns: FUZZ_RUNS },
    );
  });

  it('come back as the target has them where nobody edited anything', () => {
    fc.assert(
      fc.property(manifest.map(once), manifest.map(once), (base, theirs) => {
        const { documents, edits, conflicts } = mergeManifest({ base, mine: base, theirs, knowledge });
        assert.deepEqual([edits.filter(({ outcome }) => outcome !== 'already'), conflicts], [[], []]);
        assert.deepEqual(
          documents,
          theirs.map((one) => prepared(one)),
        );
      }),
      { numRuns: FUZZ_RUNS },
    );
  });

  it('are written into the text of the target so that they read back the same', () => {
    fc.assert(
      fc.property(manifest.map(once), manifest.map(once), (theirs, merged) => {
        const wanted = merged.filter(({ kind }) => kind !== 'Secret').map((one) => prepared(one));
        const text = manifestText(theirs);
        const file = { name: 'upgrade.yaml', text, documents: parseManifest(text, 'upgrade.yaml').documents.map(({ object: one }) => one) };
        const difference = differences([file], wanted).get('upgrade.yaml');
        if (!difference) return;
        const read = parseManifest(carriedText(file, difference), 'carried.yaml').documents.map((one) => prepared(one.object));
        const byName = (objects: readonly KubeObject[]) => new Map(objects.map((one) => [`${one.kind}/${one.metadata.name}`, one]));
        assert.deepEqual(byName(read), byName(wanted));
      }),
      { numRuns: FUZZ_RUNS },
    );
  });

  it('are compared, and searched for images, without an exception', () => {
    fc.assert(
      fc.property(manifest, manifest, (a, b) => {
        assert.ok(imageList(imagesIn([...a, ...b])).every((image) => image.includes('/')));
        for (const [index, one] of a.entries()) {
          assert.deepEqual(changedFields(one, one), []);
          for (const { path } of changedFields(one, b[index])) assert.equal(typeof path, 'string');
        }
      }),
      { numRuns: FUZZ_RUNS },
    );
  });
});
