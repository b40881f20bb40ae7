import assert from 'node:assert/strict';
import { readSidecarImages } from '../../../src/features/sidecars/restarted.ts';
import type { Sources } from '../../../src/kernel/ports.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf, object } from '../../fixtures/facts.ts';
import { clusterOf } from '../../support/cluster-of.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const FILE = 'manifests/alp/istio-inject-configmap-1.15.yaml';
const configOf = (release: string) =>
  `policy: enabled\n  - name: dikastes\n    image: quay.io/calico/dikastes:${release}\n  - image: docker.io/istio/proxyv2:1.15.0\n`;
const fileOf = (release: string) => `data:\n  config: |\n${configOf(release).replace(/^(?=.)/gm, '    ')}`;

const istiod = (tag: string) =>
  object('apps/v1', 'Deployment/istio-system/istiod', {
    spec: { template: { spec: { containers: [{ name: 'discovery', image: `docker.io/istio/pilot:${tag}` }] } } },
  });
const injector = object('v1', 'ConfigMap/istio-system/istio-sidecar-injector', { data: { config: configOf('v3.27.5') } });

async function sidecars(...objects: readonly Parameters<typeof clusterOf>[0][number][]) {
  const files: Readonly<Record<string, string>> = {
    [`${CALICO_TARGET}/${FILE}`]: fileOf(CALICO_TARGET),
    [`v3.27.5/${FILE}`]: fileOf('v3.27.5'),
  };
  const artifacts = {
    has: async (release: string, path: string) => Object.hasOwn(files, `${release}/${path}`),
    fetch: async (release: string, path: string) => ({
      url: path,
      file: path,
      sha256: '',
      bytes: new TextEncoder().encode(files[`${release}/${path}`]),
    }),
  };
  const sources = { cluster: clusterOf(objects).cluster, artifacts } as unknown as Sources;
  return readSidecarImages(sources, contextOf({ release: CALICO_TARGET }, calico));
}

describe('the image of the policy sidecar', () => {
  it('is that of the template which the mesh will have', async () => {
    assert.deepEqual(await sidecars(injector, istiod('1.15.0')), { images: [`quay.io/calico/dikastes:${CALICO_TARGET}`], unknown: [] });
  });

  it('is none without a mesh', async () => {
    assert.deepEqual(await sidecars(), { images: [], unknown: [] });
  });

  it('is said to be unknown where the target has no template for the mesh', async () => {
    const { images, unknown } = await sidecars(injector, istiod('1.22.1'));
    assert.deepEqual(images, []);
    assert.match(unknown.join(), /ConfigMap\/istio-system\/istio-sidecar-injector is not known: /);
  });
});
