import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isFromRegistry, isImageOf } from '../../../src/features/survey/components.ts';
import { imageRelease, parseImage, sameRelease } from '../../../src/kernel/release.ts';
import { agent, controllers, deployment, foundIn, installation, operatedAgent, operator, pod } from '../../support/calico-objects.ts';
import { workloadOf } from '../../support/inventory.ts';
import { CALICO_TARGET } from '../../support/target.ts';

describe('components and mixed releases', () => {
  it('lists what carries another release than the agents', () => {
    const pods = {
      value: [
        pod('calico-node-a', 'quay.io/calico/node:v3.26.1'),
        pod('calico-node-b', 'quay.io/calico/node:v3.27.5'),
        pod('calico-node-c', 'quay.io/calico/node:v3.26.1'),
      ],
    };
    const apiserver = deployment('calico-apiserver', 'quay.io/calico/apiserver:v3.25.0', { namespace: 'calico-apiserver' });
    const old = agent({ more: { 'init:mount-bpffs': 'quay.io/calico/node:v3.24.1', 'kube-flannel': 'docker.io/flannel/flannel:v0.24.4' } });
    const { mixed, hasApiServer, components } = foundIn([old, controllers('v3.26.1'), apiserver], { pods });
    assert.deepEqual(
      mixed.map(({ component, workload, container, release }) => [component, workload, container, release]),
      [
        ['agent', 'DaemonSet/kube-system/calico-node', 'mount-bpffs', 'v3.24.1'],
        ['agent', '2 pods of DaemonSet/kube-system/calico-node', 'calico-node', 'v3.26.1'],
        ['controllers', 'Deployment/kube-system/calico-kube-controllers', 'calico-kube-controllers', 'v3.26.1'],
        ['apiserver', 'Deployment/calico-apiserver/calico-apiserver', 'calico-apiserver', 'v3.25.0'],
      ],
    );
    assert.equal(hasApiServer, true);
    assert.equal(
      components.filter(({ workload }) => workload.includes('pod')).length,
      1,
      "pods of the workload's own image are not listed",
    );
  });

  it('does not call a build suffix, flannel or the operator another release', () => {
    const fips = foundIn([
      installation(),
      operator(),
      operatedAgent({ tag: 'v3.27.5-fips', more: { 'kube-flannel': 'docker.io/flannel/flannel:v0.24.4' } }),
    ]);
    assert.deepEqual(fips.mixed, []);
    assert.equal(fips.components.find(({ component }) => component === 'operator')?.release, 'v1.32.12');
  });

  it('knows Typha, API server and CSI driver by image as well, but not in foreign namespaces', () => {
    const csi = workloadOf('DaemonSet', 'csi', { namespace: 'calico-system', images: { c: 'quay.io/calico/csi:v3.27.5' } });
    const foreign = deployment('calico-apiserver', 'quay.io/calico/apiserver:v3.27.5', { namespace: 'shop' });
    const renamed = deployment('t', 'quay.io/calico/typha:v3.27.5');
    const found = foundIn([agent(), renamed, csi, foreign]);
    assert.deepEqual([found.hasTypha, found.hasCsiDriver, found.hasApiServer], [true, true, false]);
  });
});

const DIGEST = `sha256:${'ab'.repeat(32)}`;

describe('image references', () => {
  const parsed: readonly (readonly [string, ReturnType<typeof parseImage>])[] = [
    ['node', { repository: '', name: 'node' }],
    ['calico/node:v3.15.0', { repository: 'calico', name: 'node', tag: 'v3.15.0' }],
    ['localhost:5000/node', { repository: 'localhost:5000', name: 'node' }],
    ['registry.local:5000/a/b/node:v3.1.2', { repository: 'registry.local:5000/a/b', name: 'node', tag: 'v3.1.2' }],
    [`quay.io/calico/node@${DIGEST}`, { repository: 'quay.io/calico', name: 'node', digest: DIGEST }],
    [`quay.io/calico/node:${CALICO_TARGET}@${DIGEST}`, { repository: 'quay.io/calico', name: 'node', tag: CALICO_TARGET, digest: DIGEST }],
    ['', { repository: '', name: '' }],
    ['/:@', { repository: '', name: '' }],
  ];
  for (const [image, expected] of parsed) {
    it(`takes "${image}" apart`, () => assert.deepEqual(parseImage(image), expected));
  }

  const releases: readonly (readonly [string, string | undefined])[] = [
    ['docker.io/calico/node:v3.27.5', 'v3.27.5'],
    ['calico/node:3.27.5', 'v3.27.5'],
    [`quay.io/calico/node:${CALICO_TARGET}-fips`, `${CALICO_TARGET}-fips`],
    ['rancher/hardened-calico:v3.29.2-build20250306', 'v3.29.2-build20250306'],
    ['rancher/mirrored-calico-node:v3.20.1-rancher1', 'v3.20.1-rancher1'],
    ['calico/node:v3.26.0-0.dev-403-gf8c1a2b', 'v3.26.0-0.dev-403-gf8c1a2b'],
    [`quay.io/calico/node:${CALICO_TARGET}@${DIGEST}`, CALICO_TARGET],
    [`quay.io/calico/node@${DIGEST}`, undefined],
    ['calico/node:master', undefined],
    ['calico/node:latest', undefined],
    ['calico/node:release-v3.24', undefined],
    ['calico/node:v3.24', undefined],
    ['calico/node', undefined],
    ['registry.local:5000/calico/node', undefined],
  ];
  for (const [image, expected] of releases) {
    it(`reads ${expected ?? 'no release'} from ${image}`, () => assert.equal(imageRelease(image), expected));
  }

  it('are never refused, whatever they hold', () => {
    fc.assert(
      fc.property(fc.string(), (image) => {
        imageRelease(image);
        assert.equal(parseImage(image).name.includes('/'), false);
      }),
    );
  });

  it('are put together from the parts that they are taken into', () => {
    const segment = fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,9}$/);
    const parts = fc.record({
      registry: fc.constantFrom('', 'quay.io/', 'localhost:5000/', 'h:1/a/'),
      path: segment,
      name: segment,
      tag: fc.option(fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,9}$/)),
      digest: fc.constantFrom(null, DIGEST),
    });
    fc.assert(
      fc.property(parts, ({ registry, path, name, tag, digest }) => {
        const image = `${registry}${path}/${name}${tag === null ? '' : `:${tag}`}${digest === null ? '' : `@${digest}`}`;
        const expected = {
          repository: `${registry}${path}`,
          name,
          ...(tag === null ? {} : { tag }),
          ...(digest === null ? {} : { digest }),
        };
        assert.deepEqual(parseImage(image), expected);
      }),
    );
  });

  it('belong to a registry by whole path segments', () => {
    assert.equal(isFromRegistry('quay.io/calico/node:v1.2.3', ['quay.io/calico']), true);
    assert.equal(isFromRegistry('quay.io/calico/sub/node', ['quay.io/calico']), true);
    assert.equal(isFromRegistry('quay.io/calico2/node', ['quay.io/calico']), false);
    assert.equal(isFromRegistry('node:20', ['calico']), false);
  });

  it('belong to a component by their last segment', () => {
    assert.equal(isImageOf('a/b/calico-node:v3.1.2', ['node', 'calico-node']), true);
    for (const name of ['tigera-calico-node', 'projectcalico_calico.node', 'calico_node'])
      assert.equal(isImageOf(`mirror.local/${name}:v3.1.2`, ['node', 'calico-node']), true, name);
    for (const name of ['node-windows', 'their-node', 'calico-node-windows'])
      assert.equal(isImageOf(`a/b/${name}:v3.1.2`, ['node', 'calico-node']), false, name);
  });

  it('are of the same release whatever the build suffix', () => {
    assert.equal(sameRelease(`${CALICO_TARGET}-fips`, CALICO_TARGET), true);
    assert.equal(sameRelease('v3.32.1', 'v3.32.2'), false);
  });
});
