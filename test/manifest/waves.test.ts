import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { documentsText, parseManifest } from '../../src/manifest/manifest.ts';
import { splitWaves } from '../../src/manifest/waves.ts';
import { calico } from '../../src/profiles/calico.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import { manifestFile, ownReleases } from '../support/releases.ts';

const variantOf = (profile: typeof calico, id: string) => profile.variants.find((one) => one.id === id) ?? assert.fail(id);
const manifestOf = (file: string) => parseManifest(readFileSync(file, 'utf8'), file);

describe('splitWaves', () => {
  it('puts the document-named service into one wave: its order does not matter', () => {
    const manifest = manifestOf(manifestFile('v3.32.2', 'netsvc.yaml', ownReleases));
    const waves = splitWaves(manifest, [], variantOf(netsvc, 'netsvc'), netsvc);
    assert.deepEqual(
      waves.map((wave) => [wave.id, wave.file]),
      [['all', 'upgrade.yaml']],
    );
  });

  for (const { id, file } of calico.variants) {
    if (!existsSync(manifestFile('v3.32.1', file))) continue; // not packed
    it(`puts every document of ${file} into exactly one wave, controllers last, read back unchanged`, () => {
      const path = manifestFile('v3.32.1', file);
      const manifest = manifestOf(path);
      const waves = splitWaves(manifest, [], variantOf(calico, id), calico);
      const all = waves.flatMap((wave) => wave.documents);
      assert.equal(new Set(all).size, manifest.documents.length);
      assert.equal(all.length, manifest.documents.length);
      assert.equal(waves.at(-1)?.id, 'controllers');
      for (const wave of waves) {
        const again = parseManifest(documentsText(wave.documents), wave.file);
        assert.deepEqual(
          again.documents.map((one) => one.object),
          wave.documents.map((one) => one.object),
        );
      }
    });
  }

  it('rolls agents before Typha, and the API server between Typha and the controllers', () => {
    const manifest = manifestOf(manifestFile('v3.32.1', 'calico-typha.yaml'));
    const apiServer = manifestOf(manifestFile('v3.32.1', 'apiserver.yaml'));
    const waves = splitWaves(manifest, [apiServer], variantOf(calico, 'calico-typha'), calico);
    assert.deepEqual(
      waves.map((wave) => wave.id),
      ['configuration', 'agents', 'typha', 'add-ons', 'controllers'],
    );
    assert.equal(waves[1]?.file, 'upgrade-2-agents.yaml');
    const kinds = (index: number) => waves[index]?.documents.map(({ object }) => `${object.kind}/${object.metadata.name}`);
    assert.deepEqual(kinds(1), ['DaemonSet/calico-node']);
    assert.deepEqual(kinds(2), ['Deployment/calico-typha']);
    assert.deepEqual(kinds(4), ['Deployment/calico-kube-controllers']);
  });

  it('rolls Typha before the agents on the way back: it refuses agents that are older than itself', () => {
    const manifest = manifestOf(manifestFile('v3.32.1', 'calico-typha.yaml'));
    assert.deepEqual(
      splitWaves(manifest, [], variantOf(calico, 'calico-typha'), calico, 'back').map(({ id }) => id),
      ['configuration', 'typha', 'agents', 'controllers'],
    );
  });

  for (const [what, text] of [
    ['a document that is indented as a whole', '  apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: a\n'],
    ['a text that ends with blank lines', 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\ndata:\n  a: |+\n    x\n\n\n'],
    ['a text whose last line ends with blanks', 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\ndata:\n  a: |\n    x  \n\n'],
    ['a document after blank lines', '\n  \n\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }'],
  ] as const) {
    it(`writes ${what} so that it reads back as it was`, () => {
      const { documents } = parseManifest(`---\n${text}\n---\n${text}`, 'x.yaml');
      const written = documentsText(documents);
      assert.deepEqual(
        parseManifest(written, 'again').documents.map(({ object }) => object),
        documents.map(({ object }) => object),
      );
    });
  }
});
