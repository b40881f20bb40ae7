import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { detect } from '../../../src/features/survey/detect.ts';
import type { Detection, InstallPath } from '../../../src/kernel/installation.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { editedManifest, editedManifests } from '../../support/edited-manifests.ts';
import { inventoryOfManifest } from '../../support/inventory.ts';
import { releases } from '../../support/releases.ts';
import { CALICO_TARGET } from '../../support/target.ts';

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
  [CALICO_TARGET]: ['calico', 'calico-typha', 'calico-policy-only', 'calico-vxlan', 'canal', 'calico-etcd', 'canal-etcd'],
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
  [CALICO_TARGET]: CALICO_TARGET,
};

const EDITED: Readonly<Record<string, Expected>> = {
  'calico-v3.15.0-andrewmackrodt': manifest('calico', 'v3.15.0'),
  'operator-v3.17.0-aws': { path: 'operator', release: 'v3.17.0' },
  // The controllers' image is a fork without a tag: no release, so no mixture either.
  'calico-v3.17.1-mhmxs': manifest('calico', 'v3.17.1'),
  'calico-etcd-v3.18.1-dotbalo': manifest('calico-etcd', 'v3.18.1'),
  'typha-v3.19.0-IamMrCupp': manifest('calico-typha', 'v3.19.0'),
  'calico-v3.19.1-kubecube-io': manifest('calico', 'v3.19.1-m'),
  // Images of v3.19.3 on a body of v3.21; typha_service_name is set although there is no Typha.
  'calico-v3.19.3-cloudnativer': manifest('calico', 'v3.19.3'),
  'canal-v3.21.1-ilkilab': manifest('canal', 'v3.21.1'),
  'policy-only-v3.23.0-kubernetes-sigs': manifest('calico-policy-only', 'v3.23.0'),
  'calico-v3.23.3-yuikuen': manifest('calico', 'v3.23.3'),
  'calico-v3.25.0-zakaria-statistics': manifest('calico', 'v3.25.0'),
  'typha-v3.25.1-dotbalo': manifest('calico-typha', 'v3.25.1'),
  'canal-v3.26.4-ChickenIQ': manifest('canal', 'v3.26.4'),
  'calico-v3.27.2-kubevirt': manifest('calico', 'v3.27.2'),
  'vxlan-v3.28.1-canonical': manifest('calico-vxlan', 'v3.28.1', { managedBy: ['MicroK8s'] }),
  'vxlan-v3.29.4-kubernetes-sigs': manifest('calico-vxlan', 'v3.29.4'),
  'calico-v3.31.2-shixiaochuangdev': manifest('calico', 'v3.31.2'),
};

function identify(file: string, more = ''): Detection {
  return detect(inventoryOfManifest(readFileSync(file, 'utf8') + more), calico);
}

const identifyEdited = (name: string, more = ''): Detection => detect(inventoryOfManifest(editedManifest(name) + more), calico);

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
      assert.ok(found.type === 'none' && found.because.includes(`it installs ${brings}`), JSON.stringify(found));
    });
  }

  for (const [name, expected] of Object.entries(EDITED)) {
    it(`identifies ${name}`, () => {
      assert.deepEqual(summary(identifyEdited(name)), expected);
    });
  }

  it('says that the operator manifest of a mirror alone installs nothing, and identifies it with an Installation', () => {
    const name = 'operator-v3.31.2-shixiaochuangdev';
    assert.equal(identifyEdited(name).type, 'none');
    assert.deepEqual(summary(identifyEdited(name, INSTALLATION)), { path: 'operator', release: 'v3.31.2' });
  });

  it('calls the policy engine for EKS ambiguous: no ConfigMap and no CNI plugin, so no install manifest', () => {
    const found = identifyEdited('policy-only-v3.17.1-aws');
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
    const odd = ['operator-v3.31.2-shixiaochuangdev', 'policy-only-v3.17.1-aws'];
    assert.deepEqual(Object.keys(editedManifests).sort(), [...Object.keys(EDITED), ...odd].sort());
  });
});
