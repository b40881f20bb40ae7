import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { detect } from '../../../src/features/survey/detect.ts';
import type { Detection, InstallPath } from '../../../src/kernel/installation.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { editedManifest, editedManifests } from '../../support/edited-manifests.ts';
import { inventoryOfManifest } from '../../support/inventory.ts';
import { releases } from '../../support/releases.ts';

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

/** The manifests in the folder v3.24.6 carry the image tags of v3.24.5: that is what a cluster runs that was made from them. */
const TAG_OF: Readonly<Record<string, string>> = { 'v3.24.6': 'v3.24.5' };

/** What is packed: the folder of a manifest is its release unless said, its name its variant. */
const PACKED = readdirSync(releases)
  .sort()
  .flatMap((release) =>
    readdirSync(join(releases, release, 'manifests')).flatMap((file) => {
      const [, name] = /^((?:calico(?!ctl)|canal|tigera-operator).*)\.yaml$/.exec(file) ?? [];
      return name === undefined ? [] : [{ release, name, brings: TAG_OF[release] ?? release }];
    }),
  );

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
  for (const { release, name, brings } of PACKED) {
    const file = join(releases, release, 'manifests', `${name}.yaml`);
    if (name === 'tigera-operator') {
      it(`identifies ${name}.yaml of ${release} with an Installation`, () => {
        assert.deepEqual(summary(identify(file, INSTALLATION)), { path: 'operator', release: brings });
      });

      it(`says that ${name}.yaml of ${release} alone installs nothing`, () => {
        const found = identify(file);
        assert.ok(found.type === 'none' && found.because.includes(`it installs ${brings}`), JSON.stringify(found));
      });
    } else
      it(`identifies ${name}.yaml of ${release}`, () => {
        assert.deepEqual(summary(identify(file)), manifest(name, brings));
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

  it('has an expectation for every manifest that is there', () => {
    assert.ok(PACKED.length >= 70, String(PACKED.length));
    const odd = ['operator-v3.31.2-shixiaochuangdev', 'policy-only-v3.17.1-aws'];
    assert.deepEqual(Object.keys(editedManifests).sort(), [...Object.keys(EDITED), ...odd].sort());
  });
});
