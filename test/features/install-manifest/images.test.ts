import assert from 'node:assert/strict';
import { readTargetImages, type TargetImages } from '../../../src/features/node-probe/target-images.ts';
import { readInstalled } from '../../../src/features/survey/detect.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { type ApplyBench, applyBench, ownDocuments } from '../../support/apply-bench.ts';
import { appliedClientSide } from '../../support/applying-cluster.ts';
import { chartBench } from '../../support/chart-bench.ts';
import { objectOf } from '../../support/inventory.ts';
import { operatedBench } from '../../support/operated-bench.ts';
import { CALICO_OPERATOR, CALICO_TARGET, NETSVC_TARGET, pattern } from '../../support/target.ts';

async function imagesOf({ sources, context }: Pick<ApplyBench, 'sources' | 'context'>): Promise<TargetImages> {
  return readTargetImages(sources, context, await readInstalled(sources, context));
}

async function replaced(from: string, to: string): Promise<readonly KubeObject[]> {
  const documents = await ownDocuments('v3.26.4');
  const edited = JSON.parse(JSON.stringify(documents).replaceAll(from, to)) as readonly KubeObject[];
  assert.notDeepEqual(edited, documents);
  return edited.map(appliedClientSide);
}

describe('the images of the target', () => {
  it('are those of the target with its tags where nothing was edited', async () => {
    const { images, unknown } = await imagesOf(applyBench((await ownDocuments('v3.26.4')).map(appliedClientSide)));
    assert.ok(images.length > 1);
    assert.deepEqual(images, [...images].toSorted());
    assert.ok(
      images.every((image) => image.endsWith(`:${NETSVC_TARGET}`)),
      images.join(),
    );
    assert.deepEqual(unknown, []);
  });

  it('come from the mirror that the person installed from', async () => {
    const { images } = await imagesOf(applyBench(await replaced('"image":"registry.netsvc.io/netsvc/', '"image":"mirror.local:5000/ns/')));
    assert.ok(images.length > 1);
    assert.ok(
      images.every((image) => pattern`^mirror\.local:5000/ns/[a-z-]+:${NETSVC_TARGET}$`.test(image)),
      images.join(),
    );
  });

  it('are named as open where a build of one’s own is still to be decided on', async () => {
    const { unknown } = await imagesOf(applyBench(await replaced(':v3.26.4"', ':v3.26.4-fix"')));
    assert.match(unknown.join(), /images:registry\.netsvc\.io\/netsvc is still to be decided: listed is what the target has/);
  });

  it('are named as not edited where nothing tells the edits', async () => {
    const bench = applyBench((await ownDocuments('v3.26.4')).map(appliedClientSide), { releases: [NETSVC_TARGET] });
    const { unknown } = await imagesOf(bench);
    assert.match(unknown.join(), /your changes are not in the list: .*--base/);
  });
});

describe('the images of the target, where an operator decides', () => {
  it('are its own from the target, and what runs today with the target’s tag', async () => {
    const { images, unknown } = await imagesOf(await operatedBench());
    assert.ok(
      images.some((image) => /\/operator:v1\./.test(image)),
      images.join(),
    );
    for (const name of ['node', 'typha', 'kube-controllers'])
      assert.ok(
        images.some((image) => image.endsWith(`/${name}:${CALICO_TARGET}`)),
        images.join(),
      );
    assert.match(unknown.join(), /chooses the images of its components/);
    const lists = /kubectl run operator-images --rm -i --quiet --restart=Never --image=(\S+) -- --print-images=list/.exec(unknown.join());
    assert.ok(images.includes(lists?.[1] ?? ''), 'what lists the new ones is the operator that is going to run');
  });

  it('come from the release’s registry where the Installation asks for the default by name', async () => {
    const settings = objectOf('operator.tigera.io/v1', 'Installation', 'default', {
      spec: { registry: 'UseDefault' },
      status: { calicoVersion: 'v3.27.5' },
    });
    const bench = await operatedBench({ more: [settings] });
    const { images } = await imagesOf(bench);
    assert.ok(images.includes(`quay.io/calico/node:${CALICO_TARGET}`), images.join());
    assert.ok(!images.includes(`docker.io/calico/node:${CALICO_TARGET}`), images.join());
  });

  for (const [spec, running, node] of [
    [
      { registry: 'mirror.local/', imagePath: 'ns', imagePrefix: 'tigera-calico-' },
      'mirror.local/ns/tigera-calico-node',
      'mirror.local/ns/tigera-calico-node',
    ],
    [{ registry: 'mirror.local', imagePath: 'ns' }, 'docker.io/calico/node', 'mirror.local/ns/node'],
    [{ registry: 'mirror.local/' }, 'mirror.local/calico/node', 'mirror.local/calico/node'],
    [{ imagePath: 'ns', imagePrefix: 'UseDefault' }, 'docker.io/calico/node', 'quay.io/ns/node'],
    [{}, 'mirror.local/tigera-calico_node', 'quay.io/calico/node'],
  ] as const)
    it(`come from where the Installation says, and not from where they do now: ${node} after ${running}`, async () => {
      const template = { spec: { containers: [{ name: 'calico-node', image: `${running}:v3.27.5` }] } };
      const agents = objectOf('apps/v1', 'DaemonSet', 'calico-node', { spec: { template } });
      const installation = objectOf('operator.tigera.io/v1', 'Installation', 'default', { spec, status: { calicoVersion: 'v3.27.5' } });
      const more = [{ ...agents, metadata: { ...agents.metadata, namespace: 'calico-system' } }, installation];
      const { images } = await imagesOf(await operatedBench({ more }));
      assert.ok(images.includes(`${node}:${CALICO_TARGET}`), images.join());
    });

  it('have the digests of an ImageSet for the target', async () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    const names = { kind: 'ImageSet', plural: 'imagesets' };
    const definition = { group: 'operator.tigera.io', names, scope: 'Cluster', versions: [{ name: 'v1', served: true, storage: true }] };
    const more = [
      objectOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'imagesets.operator.tigera.io', { spec: definition }),
      objectOf('operator.tigera.io/v1', 'ImageSet', `calico-${CALICO_TARGET}`, { spec: { images: [{ image: 'calico/node', digest }] } }),
    ];
    const { images } = await imagesOf(await operatedBench({ more }));
    assert.ok(images.includes(`quay.io/calico/node@${digest}`), images.join());
  });

  it('keep the build for FIPS mode that the operator runs', async () => {
    const template = { spec: { containers: [{ name: 'typha', image: 'docker.io/calico/typha:v3.27.5-fips' }] } };
    const typha = objectOf('apps/v1', 'Deployment', 'calico-typha', { spec: { template } });
    const more = [{ ...typha, metadata: { ...typha.metadata, namespace: 'calico-system' } }];
    const { images } = await imagesOf(await operatedBench({ more }));
    assert.ok(images.includes(`quay.io/calico/typha:${CALICO_TARGET}-fips`), images.join());
  });

  it('are told from the rendered chart', async () => {
    const bench = chartBench({ crdsApplied: true });
    const { images } = await imagesOf({ ...bench, context: { ...bench.context, profile: calico } });
    assert.deepEqual(
      images,
      ['cni', 'kube-controllers', 'node']
        .map((name) => `quay.io/calico/${name}:${CALICO_TARGET}`)
        .concat(`quay.io/tigera/operator:${CALICO_OPERATOR}`),
    );
  });
});
