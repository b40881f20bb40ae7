import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Detection, InstallPath } from '../../src/core/installation.ts';
import { detect } from '../../src/detect/detect.ts';
import { calico } from '../../src/profiles/calico.ts';
import { inventoryOfManifest } from '../support/inventory.ts';
import { releases } from '../support/releases.ts';

const corpus = join(import.meta.dirname, '..', '..', '..', 'shared', 'corpus');

interface Expected {
  readonly path: InstallPath;
  readonly variant?: string;
  readonly release: string;
  /** Other releases in the same file: `component release`. */
  readonly mixed?: readonly string[];
  readonly managedBy?: readonly string[];
}

const manifest = (variant: string, release: string, more: Partial<Expected> = {}): Expected => ({
  path: variant.endsWith('-etcd') ? 'kvstore' : 'manifest',
  variant,
  release,
  ...more,
});

/** Install manifests of a release folder; the folder's name is the release unless said. */
const RELEASES: Readonly<Record<string, readonly string[]>> = {
  'v3.15.0': ['calico'],
  'v3.15.5': ['calico', 'calico-typha', 'calico-policy-only', 'canal', 'calico-etcd', 'canal-etcd'],
  'v3.17.0': [],
  'v3.17.1': ['calico', 'calico-policy-only'],
  'v3.18.0': ['calico-etcd'],
  'v3.18.1': ['calico-etcd'],
  'v3.19.0': ['calico-typha'],
  'v3.19.1': ['calico'],
  'v3.20.6': ['calico', 'calico-typha', 'calico-policy-only', 'canal', 'calico-etcd', 'canal-etcd'],
  'v3.21.1': ['canal'],
  'v3.21.5': ['calico'],
  'v3.23.0': ['calico-policy-only'],
  'v3.23.3': ['calico'],
  'v3.23.4': ['calico'],
  'v3.23.5': ['calico', 'calico-typha', 'calico-policy-only', 'canal', 'calico-etcd', 'canal-etcd'],
  'v3.24.6': ['calico', 'calico-typha', 'calico-policy-only', 'canal', 'calico-etcd', 'canal-etcd'],
  'v3.25.0': ['calico'],
  'v3.25.1': ['calico-typha'],
  'v3.26.4': ['canal'],
  'v3.26.5': ['calico', 'calico-typha', 'calico-policy-only', 'canal', 'calico-etcd', 'canal-etcd'],
  'v3.27.2': ['calico'],
  'v3.27.5': ['calico', 'calico-typha', 'calico-policy-only', 'canal', 'calico-etcd', 'canal-etcd'],
  'v3.28.1': ['calico-vxlan'],
  'v3.29.4': ['calico-vxlan'],
  'v3.30.7': ['calico', 'calico-typha', 'calico-policy-only', 'canal', 'calico-etcd', 'canal-etcd'],
  'v3.31.2': ['calico'],
  'v3.32.1': ['calico', 'calico-typha', 'calico-policy-only', 'canal', 'calico-etcd', 'canal-etcd'],
};
/** The manifests in the folder v3.24.6 carry the image tags of v3.24.5: that is what a cluster runs that was made from them. */
const TAG_OF: Readonly<Record<string, string>> = { 'v3.24.6': 'v3.24.5' };

/** Operator manifests, with the operator's own tag as it stands in them. */
const OPERATORS: Readonly<Record<string, string>> = {
  'v3.15.5': 'v3.15.5',
  'v3.17.0': 'v3.17.0',
  'v3.20.6': 'v3.20.6',
  'v3.23.5': 'v3.23.5',
  'v3.24.6': 'v3.24.5',
  'v3.26.5': 'v3.26.5',
  'v3.27.5': 'v3.27.5',
  'v3.30.7': 'v3.30.7',
  'v3.31.2': 'v3.31.2',
  'v3.32.1': 'v3.32.1',
};

const CORPUS: Readonly<Record<string, Expected>> = {
  'calico-v3.15.0-andrewmackrodt.yaml': manifest('calico', 'v3.15.0'),
  'operator-v3.17.0-aws.yaml': { path: 'operator', release: 'v3.17.0' },
  // The controllers' image is a fork without a tag: no release, so no mixture either.
  'calico-v3.17.1-mhmxs.yaml': manifest('calico', 'v3.17.1'),
  'calico-etcd-v3.18.1-dotbalo.yaml': manifest('calico-etcd', 'v3.18.1'),
  'typha-v3.19.0-IamMrCupp.yaml': manifest('calico-typha', 'v3.19.0'),
  'calico-v3.19.1-kubecube-io.yaml': manifest('calico', 'v3.19.1-m'),
  // Images of v3.19.3 on a body of v3.21; typha_service_name is set although there is no Typha.
  'calico-v3.19.3-cloudnativer.yaml': manifest('calico', 'v3.19.3'),
  'canal-v3.21.1-ilkilab.yaml': manifest('canal', 'v3.21.1'),
  'policy-only-v3.23.0-kubernetes-sigs.yaml': manifest('calico-policy-only', 'v3.23.0'),
  'calico-v3.23.3-yuikuen.yaml': manifest('calico', 'v3.23.3'),
  'calico-v3.25.0-zakaria-statistics.yaml': manifest('calico', 'v3.25.0'),
  'typha-v3.25.1-dotbalo.yaml': manifest('calico-typha', 'v3.25.1'),
  'canal-v3.26.4-ChickenIQ.yaml': manifest('canal', 'v3.26.4'),
  'calico-v3.27.2-kubevirt.yaml': manifest('calico', 'v3.27.2'),
  'vxlan-v3.28.1-canonical.yaml': manifest('calico-vxlan', 'v3.28.1', { managedBy: ['MicroK8s'] }),
  'vxlan-v3.29.4-kubernetes-sigs.yaml': manifest('calico-vxlan', 'v3.29.4'),
  'calico-v3.31.2-shixiaochuangdev.yaml': manifest('calico', 'v3.31.2'),
};

function identify(file: string, more = ''): Detection {
  return detect(inventoryOfManifest(readFileSync(file, 'utf8') + more), calico);
}

function summary(detection: Detection): Expected | Detection {
  if (detection.type !== 'found') return detection;
  const { path, variant, release = 'unknown', mixed, managedBy } = detection.installation;
  return {
    path,
    release,
    ...(variant ? { variant } : {}),
    ...(mixed.length > 0 ? { mixed: mixed.map((item) => `${item.component} ${item.release}`) } : {}),
    ...(managedBy.length > 0 ? { managedBy: managedBy.map(({ name }) => name) } : {}),
  };
}

const INSTALLATION = '\n---\napiVersion: operator.tigera.io/v1\nkind: Installation\nmetadata:\n  name: default\n';

describe('detection of published manifests', () => {
  const manifests = (release: string) => join(releases, release, 'manifests');

  for (const [release, variants] of Object.entries(RELEASES)) {
    for (const variant of variants) {
      it(`identifies ${variant}.yaml of ${release}`, () => {
        const found = summary(identify(join(manifests(release), `${variant}.yaml`)));
        assert.deepEqual(found, manifest(variant, TAG_OF[release] ?? release));
      });
    }
  }

  for (const [release, brings] of Object.entries(OPERATORS)) {
    it(`identifies tigera-operator.yaml of ${release} with an Installation`, () => {
      const found = summary(identify(join(manifests(release), 'tigera-operator.yaml'), INSTALLATION));
      assert.deepEqual(found, { path: 'operator', release: brings });
    });

    it(`says that tigera-operator.yaml of ${release} alone installs nothing`, () => {
      const found = identify(join(manifests(release), 'tigera-operator.yaml'));
      assert.ok(found.type === 'none' && found.because.includes(`it brings ${brings}`), JSON.stringify(found));
    });
  }

  if (!existsSync(corpus)) return;

  for (const [file, expected] of Object.entries(CORPUS)) {
    it(`identifies ${file}`, () => {
      assert.deepEqual(summary(identify(join(corpus, file))), expected);
    });
  }

  it('says that the operator manifest of a mirror alone installs nothing, and identifies it with an Installation', () => {
    const file = join(corpus, 'operator-v3.31.2-shixiaochuangdev.yaml');
    assert.equal(identify(file).type, 'none');
    assert.deepEqual(summary(identify(file, INSTALLATION)), { path: 'operator', release: 'v3.31.2' });
  });

  it('calls the policy engine for EKS ambiguous: no ConfigMap and no CNI plugin, so no install manifest', () => {
    const found = identify(join(corpus, 'policy-only-v3.17.1-aws.yaml'));
    assert.ok(found.type === 'ambiguous');
    assert.match(found.because, /installs no CNI plugin .*no ConfigMap calico-config/);
    assert.equal(found.candidates[0], 'calico-policy-only');
  });

  it('has an expectation for every install manifest that is there', () => {
    const installs = (release: string) =>
      readdirSync(manifests(release)).filter((file) => /^(calico|canal|tigera-operator)/.test(file) && !file.startsWith('calicoctl'));
    const there = readdirSync(releases).flatMap((release) => installs(release).map((file) => `${release}/${file}`));
    const expected = [
      ...Object.entries(RELEASES).flatMap(([release, variants]) => variants.map((variant) => `${release}/${variant}.yaml`)),
      ...Object.keys(OPERATORS).map((release) => `${release}/tigera-operator.yaml`),
    ];
    assert.deepEqual(there.sort(), expected.sort());
    const odd = ['operator-v3.31.2-shixiaochuangdev.yaml', 'policy-only-v3.17.1-aws.yaml', 'INDEX.md'];
    assert.deepEqual(readdirSync(corpus).sort(), [...Object.keys(CORPUS), ...odd].sort());
  });
});
