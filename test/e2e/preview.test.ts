import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { OpenCluster } from '../../src/adapters/kube/cluster.ts';
import type { PreviewedObject } from '../../src/features/install-manifest/outcome.ts';
import { previewDocument, previewDocuments } from '../../src/features/install-manifest/preview.ts';
import { K } from '../../src/kernel/kinds.ts';
import { refOf, refText } from '../../src/kernel/object.ts';
import { changedFields, fieldAt } from '../../src/manifest/definition-differences.ts';
import { manifestText, parseManifest } from '../../src/manifest/manifest.ts';
import { comparable } from '../../src/manifest/prepare.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { liveOf, type OpenPlane, openPlane, seen } from '../support/plan-and-result.ts';
import { manifestFile } from '../support/releases.ts';
import { CALICO_TARGET } from '../support/target.ts';
import { assertSucceeded } from '../support/upgrade-process.ts';

const fileOf = (release: string) => manifestFile(release, 'calico.yaml');
describe('the preview of an upgrade of a client-side installed release', function () {
  this.timeout(120_000);
  let open: OpenPlane;
  let plane: ControlPlane;
  let cluster: OpenCluster;
  let previews: readonly PreviewedObject[];

  before(async function () {
    this.timeout(600_000);
    open = await openPlane();
    ({ plane, cluster } = open);
    assertSucceeded(await plane.apply(fileOf('v3.27.5')));
    const manifest = parseManifest(await readFile(fileOf(CALICO_TARGET), 'utf8'), 'calico.yaml');
    previews = await previewDocuments(cluster, manifest);
  });
  after(async () => open?.close());

  it('tells new objects from changed ones and refuses none', () => {
    const count = (change: string) => previews.filter(({ planned }) => planned.change === change).length;
    assert.deepEqual([previews.length, count('create'), count('refused')], [38, 7, 0]);
    assert.equal(previews.filter(({ adopted }) => adopted).length, 31);
  });

  it('tries a pod of each workload whose pods it starts, and has the words of what admission refuses', async () => {
    const words = async (refused: string): Promise<readonly string[]> => {
      const manifest = parseManifest(await readFile(fileOf(CALICO_TARGET), 'utf8'), 'calico.yaml');
      const tried = (await previewDocuments(cluster, manifest)).flatMap(({ planned: { ref, pods } }) => (pods ? [{ ref, pods }] : []));
      return tried.map(({ ref, pods }) => `${pods.verdict} ${ref.name}: ${new RegExp(refused).exec(pods.words)?.[0] ?? pods.words}`);
    };
    const both = (text: string) => ['calico-kube-controllers', 'calico-node'].map((name) => `refused ${name}: ${text}`);
    const kubectl = async (args: readonly string[], object?: object) => {
      assertSucceeded(await plane.kubectl(args, object && JSON.stringify(object)));
    };
    const label = (value: string) => kubectl(['label', 'namespace', 'kube-system', `pod-security.kubernetes.io/enforce${value}`]);
    assert.deepEqual(await words(''), []);
    await label('=restricted');
    assert.deepEqual(
      (await words('violates PodSecurity "restricted:latest"')).toSorted(),
      both('violates PodSecurity "restricted:latest"'),
    );
    await label('-');
    const metadata = { name: 'tight', namespace: 'kube-system' };
    const quota = (hard: object) => ({ apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: { hard } });
    await kubectl(['apply', '-f', '-'], quota({ 'limits.memory': '1Gi' }));
    assert.deepEqual(
      (await words('failed quota: tight: must specify limits.memory')).toSorted(),
      both('failed quota: tight: must specify limits.memory'),
    );
    await kubectl(['delete', 'resourcequota', '-n', 'kube-system', 'tight']);
    const limits = [{ type: 'Container', min: { cpu: '500m' } }];
    await kubectl(['apply', '-f', '-'], { apiVersion: 'v1', kind: 'LimitRange', metadata, spec: { limits } });
    // A container that asks for nothing is given the minimum.
    assert.deepEqual(await words('minimum cpu usage per Container is 500m'), [
      'refused calico-node: minimum cpu usage per Container is 500m',
    ]);
    await kubectl(['delete', 'limitrange', '-n', 'kube-system', 'tight']);
  });

  it('names the init container that a dry run of kubectl would show as staying', () => {
    const agent = previews.find(({ planned }) => refText(planned.ref) === 'DaemonSet/kube-system/calico-node');
    assert.ok(agent?.planned.hidden.length);
    for (const path of agent.planned.hidden) assert.match(path, /^spec\.template\.spec\.initContainers\[mount-bpffs\]/);
  });

  it('is what kubectl then does, object by object', async () => {
    assertSucceeded(await plane.kubectl(['apply', '--server-side', '--force-conflicts', '-f', fileOf(CALICO_TARGET)]));
    for (const { document, result } of previews) {
      const real = await liveOf(cluster, document);
      assert.deepEqual(seen(result), seen(real), refText({ ...document, name: document.metadata.name }));
    }
  });

  it('finds nothing left to do afterwards', async () => {
    const manifest = parseManifest(await readFile(fileOf(CALICO_TARGET), 'utf8'), 'calico.yaml');
    const again = await previewDocuments(cluster, manifest);
    assert.deepEqual(
      again.filter(({ planned, adopted }) => planned.change !== 'unchanged' || adopted).map(({ planned }) => planned),
      [],
    );
  });

  it('foresees what a plain apply would be refused for, and what it does once ownership is handed over', async () => {
    const deployment = (template: object) => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd', namespace: 'default' },
      spec: { selector: { matchLabels: { a: 'b' } }, replicas: 0, template },
    });
    const template = (value: object, more: object = {}) => ({
      metadata: { labels: { a: 'b' } },
      spec: { containers: [{ name: 'c', image: 'i', env: [{ name: 'A', ...value }], ...more }] },
    });
    const before = deployment(template({ value: 'x' }, { args: ['old'], imagePullPolicy: 'Never' }));
    const after = deployment(template({ valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }));
    assertSucceeded(await plane.kubectl(['apply', '-f', '-'], JSON.stringify(before)));
    assertSucceeded(await plane.kubectl(['set', 'env', '-n', 'default', 'deployment/d', 'MORE=1']));
    await plane.kubectl(['rollout', 'status', '-n', 'default', 'deployment/d', '--timeout=20s']);

    const preview = await previewDocument(cluster, after);
    assert.equal(preview.planned.change, 'update', String(preview.planned.note));
    assert.match(String(preview.planned.note ?? ''), /may not be specified when `value` is not empty/);
    const { live, adopted } = preview;
    assert.ok(live && adopted);
    const patch = [{ op: 'replace', path: '/metadata/managedFields', value: adopted }] as const;
    await cluster.patch(K.Deployment, refOf(live), patch, 'kubectl');
    assertSucceeded(await plane.kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], JSON.stringify(after)));
    const real = await cluster.get(K.Deployment, 'd', 'default');
    assert.ok(real && preview.result);
    assert.deepEqual(changedFields(comparable(preview.result), comparable(real)), []);
    assert.equal(fieldAt(real, 'spec.template.spec.containers[c].env[MORE].value'), '1');
    assert.equal(fieldAt(real, 'spec.template.spec.containers[c].args'), undefined);
  });

  it('writes manifests that kubectl reads back to the same values', async () => {
    const numbers = ['0400', '0o17', '0O17', '1:30', '2001-01-01', '.5', '0X1F', '0b1', '1e3', '+1', '-.inf', '.NaN', '1_000', '1.'];
    const words = [
      'yes',
      'n',
      'On',
      'TRUE',
      '~',
      'null',
      '',
      '<<',
      '<<: x',
      '=',
      'a: b',
      '# c',
      '---\nb',
      '? x',
      '- x',
      '@x',
      '%z',
      '!t',
      '&a',
      '*b',
    ];
    const signs = [
      'a\r\nb\n',
      ' x\n\ty ',
      '\tlead\nb',
      'trail \nb',
      '\n\n x',
      'x\n\n',
      '\u2028x',
      '\u0085y\nz',
      '\u0001',
      '\ufeffq',
      'ü😀',
      "'",
      '"',
      '\\n',
    ];
    const values = [...numbers, ...words, ...signs];
    const data = Object.fromEntries([...values.map((value, index) => [`k${index}`, value]), ...values.map((value) => [value, 'as a key'])]);
    const text = manifestText([{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' }, data }]);
    const read = await plane.kubectl(['patch', '--local', '-f', '-', '-p', '{}', '-o', 'json'], text);
    assertSucceeded(read);
    assert.deepEqual(JSON.parse(read.stdout).data, data);
  });
});
