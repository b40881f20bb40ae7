import assert from 'node:assert/strict';
import { meshRevisions } from '../../../src/features/sidecars/mesh.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { object } from '../../fixtures/facts.ts';

const spec = (image: string) => ({ containers: [{ name: 'discovery', image }] });
const istiod = (image: string, labels = {}, name = 'istiod') =>
  object('apps/v1', `Deployment/istio-system/${name}`, { metadata: { labels }, spec: { template: { spec: spec(image) } } });
const pod = (image: string, labels = {}) => object('v1', 'Pod/istio-system/istiod-x', { metadata: { labels }, spec: spec(image) });
const injector = (values: object, name = 'istio-sidecar-injector') =>
  object('v1', `ConfigMap/istio-system/${name}`, { data: { values: JSON.stringify(values) } });
const DIGEST = `docker.io/istio/pilot@sha256:${'0'.repeat(64)}`;
const CANARY = { 'istio.io/rev': 'canary' };

interface Case {
  readonly deployments: readonly KubeObject[];
  readonly pods?: readonly KubeObject[];
  readonly injectors?: readonly KubeObject[];
  readonly found: readonly (readonly [revision: string, version: string | undefined, mixed?: string])[];
}

const cases: Readonly<Record<string, Case>> = {
  'by the tag of its image': { deployments: [istiod('docker.io/istio/pilot:1.15.3')], found: [['default', '1.15.3']] },
  'without a vendor’s suffix': { deployments: [istiod('gcr.io/x/pilot:1.15.3-asm.7-distroless')], found: [['default', '1.15.3']] },
  'by its labels where the image is pinned by digest': {
    deployments: [istiod(DIGEST, { 'app.kubernetes.io/version': '1.17.2' })],
    found: [['default', '1.17.2']],
  },
  'by the installer’s own label first': {
    deployments: [istiod(DIGEST, { 'app.kubernetes.io/version': '0.0.1', 'operator.istio.io/version': '1.17.2' })],
    found: [['default', '1.17.2']],
  },
  'by the values that its injector keeps': {
    deployments: [istiod(DIGEST)],
    injectors: [injector({ global: { hub: 'docker.io/istio', tag: '1.16.1' } })],
    found: [['default', '1.16.1']],
  },
  'by the injector of its own revision only': {
    deployments: [istiod(DIGEST, CANARY)],
    injectors: [injector({ global: { tag: '1.16.1' } }), injector({ global: { tag: '1.18.0' } }, 'istio-sidecar-injector-canary')],
    found: [['canary', '1.18.0']],
  },
  'not at all where nothing tells': { deployments: [istiod('docker.io/istio/pilot:latest')], found: [['default', undefined]] },
  'each revision by itself': {
    deployments: [istiod('istio/pilot:1.15.3'), istiod('istio/pilot:1.16.0', CANARY, 'istiod-canary')],
    pods: [pod('istio/pilot:1.15.3'), pod('istio/pilot:1.16.0', CANARY)],
    found: [
      ['default', '1.15.3'],
      ['canary', '1.16.0'],
    ],
  },
  'as mixed while its own pods are of two versions': {
    deployments: [istiod('istio/pilot:1.16.0')],
    pods: [pod('istio/pilot:1.15.3'), pod('istio/pilot:1.16.0')],
    found: [['default', '1.16.0', '1.15.3,1.16.0']],
  },
  'among other Deployments': { deployments: [istiod('istio/proxyv2:1.15.3')], found: [] },
};

describe('a control plane of the mesh', () => {
  for (const [title, { deployments, pods = [], injectors = [], found }] of Object.entries(cases)) {
    it(`is told ${title}`, () => {
      const revisions = meshRevisions({ deployments, pods, injectors }, calico);
      assert.deepEqual(
        revisions.map(({ revision, version, mixed }) => [revision, version, ...(mixed ? [mixed.join()] : [])]),
        found,
      );
    });
  }
});
