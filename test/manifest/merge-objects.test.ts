import assert from 'node:assert/strict';
import { HIDDEN } from '../../src/kernel/hidden.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { mergeManifest } from '../../src/manifest/merge.ts';
import type { MergeInput } from '../../src/manifest/merge-input.ts';
import { identityOf } from '../../src/manifest/prepare.ts';
import { agents, config, container, env, image } from '../support/merge-cases.ts';

type Objects = readonly KubeObject[];

const object = (apiVersion: string, kind: string, name: string, fields: object = {}): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name, ...(kind.startsWith('Cluster') || kind.startsWith('Custom') ? {} : { namespace: 'kube-system' }) },
  ...fields,
});

const budget = (apiVersion: string, maxUnavailable = 1): KubeObject =>
  object(apiVersion, 'PodDisruptionBudget', 'controllers', { spec: { maxUnavailable } });
const definition = (scope: string): KubeObject =>
  object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'pools.example.org', {
    spec: { group: 'example.org', names: { kind: 'Pool', plural: 'pools' }, scope },
  });
const secret = (data: object): KubeObject => object('v1', 'Secret', 'certificates', { data });
const account = (fields: object = {}): KubeObject => object('v1', 'ServiceAccount', 'node', fields);
const role = (...rules: readonly object[]): KubeObject => object('rbac.authorization.k8s.io/v1', 'ClusterRole', 'node', { rules });
const rule = (resource: string, ...verbs: readonly string[]): object => ({ apiGroups: [''], resources: [resource], verbs });
const added = object('crd.example.org/v1', 'Configuration', 'default', { spec: { mesh: false } });

function told(base: Objects, mine: Objects, theirs: Objects, more: Partial<MergeInput> = {}) {
  const result = mergeManifest({ base, mine, theirs, ...more });
  const edits = result.edits.map(({ outcome, change, ref, path }) => `${outcome} ${change} ${ref.kind} ${path}`.trim());
  return { ...result, told: edits };
}

describe('mergeManifest, object by object', () => {
  it('keeps a node selector without text: it is an entry, and without it pods go elsewhere', () => {
    const plain = agents({ nodeSelector: { 'kubernetes.io/os': 'linux' } });
    const own = agents({ nodeSelector: { 'kubernetes.io/os': 'linux', 'node-role.kubernetes.io/control-plane': '' } });
    const { documents, told: edits } = told([plain], [own], [plain]);
    assert.deepEqual(documents, [own]);
    assert.deepEqual(edits, ['kept add DaemonSet spec.template.spec.nodeSelector[node-role.kubernetes.io/control-plane]']);
  });

  it('tells that an entry without text was taken out', () => {
    const { documents } = told([config({ a: '' })], [config({})], [config({ a: '' })]);
    assert.deepEqual(documents, [config({})]);
  });

  it('keeps what the person added, at the end', () => {
    const { documents, told: edits } = told([config({})], [added, config({})], [config({})]);
    assert.deepEqual([documents, edits], [[config({}), added], ['kept add Configuration']]);
  });

  it('does not make again what the person added and the cluster no longer has, unless told so', () => {
    const away = new Map([[identityOf(added), 'absent'] as const]);
    const { documents, told: edits, edits: traces } = told([config({})], [added, config({})], [config({})], { away });
    assert.deepEqual([documents, edits], [[config({})], ['obsolete add Configuration']]);
    assert.match(`${traces[0]?.note}`, /no longer in the cluster/);
    const resolutions = { 'Configuration/kube-system/default': 'mine' } as const;
    const wanted = told([config({})], [added, config({})], [config({})], { away, resolutions });
    assert.deepEqual([wanted.documents, wanted.unused], [[config({}), added], []]);
  });

  it('leaves alone what the person added of a kind that the server does not know', () => {
    const away = new Map([[identityOf(added), 'unserved'] as const]);
    const { documents, edits } = told([], [added], [], { away, resolutions: { 'Configuration/kube-system/default': 'mine' } });
    assert.deepEqual([documents, edits[0]?.outcome], [[], 'obsolete']);
    assert.match(`${edits[0]?.note}`, /is not changed/);
  });

  it('leaves out what the person removed', () => {
    const { documents, told: edits } = told([config({}), budget('policy/v1')], [config({})], [config({}), budget('policy/v1')]);
    assert.deepEqual([documents, edits], [[config({})], ['kept remove PodDisruptionBudget']]);
  });

  it('brings a removed object back when the person says so', () => {
    const resolutions = { 'PodDisruptionBudget/kube-system/controllers': 'theirs' } as const;
    const { documents, unused } = told([budget('policy/v1')], [], [budget('policy/v1')], { resolutions });
    assert.deepEqual([documents, unused], [[budget('policy/v1')], []]);
  });

  it('brings back what the target cannot work without, and says so', () => {
    const workload = agents({ serviceAccountName: 'node' });
    const { documents, edits } = told([account(), workload], [workload], [account(), workload]);
    assert.deepEqual(documents, [account(), workload]);
    assert.deepEqual(
      edits.map(({ outcome, note }) => [outcome, note]),
      [['target', 'DaemonSet node runs under it.']],
    );
  });

  it('turns the removal of a key that the target reads into a decision', () => {
    const reads = env({ A: { valueFrom: { configMapKeyRef: { name: 'config', key: 'mtu' } } } });
    const { conflicts, documents } = told([config({ mtu: '0', x: '1' })], [config({ x: '1' })], [config({ mtu: '0', x: '1' }), reads]);
    assert.deepEqual(documents, [config({ mtu: '0', x: '1' }), reads]);
    assert.deepEqual(
      conflicts.map(({ field, because }) => [field, because]),
      [['ConfigMap/kube-system/config:data.mtu', 'DaemonSet node reads mtu from it.']],
    );
  });

  it('takes definitions from the target whole and reports an edit in one line', () => {
    const { documents, told: edits } = told([definition('a')], [definition('b')], [definition('c')]);
    assert.deepEqual([documents, edits], [[definition('c')], ['target change CustomResourceDefinition']]);
  });

  it('installs a definition that the person’s file lacks', () => {
    const { documents, told: edits } = told([definition('a')], [], [definition('a')]);
    assert.deepEqual([documents, edits], [[definition('a')], ['target remove CustomResourceDefinition']]);
  });

  it('takes accounts from the target whole and reports the edit', () => {
    const mine = account({ imagePullSecrets: [{ name: 'own' }] });
    const { documents, told: edits } = told([account()], [mine], [account()]);
    assert.deepEqual([documents, edits], [[account()], ['target add ServiceAccount imagePullSecrets']]);
  });

  it('adds the person’s permissions to the target’s and takes none away', () => {
    const base = role(rule('pods', 'get', 'list'), rule('nodes', 'get'));
    const mine = role({ apiGroups: [''], resources: ['nodes', 'pods'], verbs: ['get'] }, rule('services', 'watch'));
    const { documents, told: edits } = told([base], [mine], [base]);
    assert.deepEqual(documents, [role(rule('pods', 'get', 'list'), rule('nodes', 'get'), rule('services', 'watch'))]);
    assert.deepEqual(edits, ['kept add ClusterRole rules[services]', 'target remove ClusterRole rules[pods]']);
  });

  it('finds a moved API version in the target already', () => {
    const { documents, told: edits } = told([budget('policy/v1beta1')], [budget('policy/v1')], [budget('policy/v1')]);
    assert.deepEqual([documents, edits], [[budget('policy/v1')], ['already change PodDisruptionBudget apiVersion']]);
  });

  it('leaves a filled Secret in the cluster: no value of it in the result or in a trace', () => {
    const result = told([secret({})], [secret({ key: 'c2VjcmV0' })], [secret({})]);
    assert.deepEqual([result.documents, result.told], [[], ['kept add Secret data.key']]);
    assert.equal(result.edits[0]?.mine, HIDDEN);
    assert.doesNotMatch(JSON.stringify(result), /c2VjcmV0/);
  });

  it('does not carry a field of metadata that Kubernetes does not know', () => {
    const base = object('v1', 'Service', 'x');
    const { documents, edits } = told([base], [{ ...base, metadata: { ...base.metadata, lbels: { a: 'b' } } }], [base]);
    assert.deepEqual(documents, [base]);
    assert.match(edits[0]?.note ?? '', /Kubernetes knows no such field/);
  });
});

describe('mergeManifest, with decisions', () => {
  const [base, mine, theirs] = [env({ A: '1' }), env({ A: '2' }), env({ A: '3' })];
  const field = 'DaemonSet/kube-system/node:spec.template.spec.containers[c].env[A].value';

  it('lists base, mine, theirs, the place and the text for --resolve', () => {
    const { conflicts } = told([base], [mine], [theirs]);
    assert.equal(conflicts.length, 1);
    const [{ ref, ...conflict } = { ref: undefined }] = conflicts;
    assert.equal(ref?.name, 'node');
    assert.deepEqual(conflict, {
      field,
      path: 'spec.template.spec.containers[c].env[A].value',
      base: '1',
      mine: '2',
      theirs: '3',
      because: 'You and the release changed it differently.',
    });
  });

  for (const [side, value] of [
    ['mine', '2'],
    ['theirs', '3'],
  ] as const) {
    it(`takes ${side} when the person says so`, () => {
      const { documents, conflicts, edits } = told([base], [mine], [theirs], { resolutions: { [field]: side } });
      assert.deepEqual([documents, conflicts, edits[0]?.decided], [[env({ A: value })], [], side]);
    });
  }

  it('names decisions that nothing asked for', () => {
    assert.deepEqual(told([base], [mine], [theirs], { resolutions: { 'DaemonSet/x:spec': 'mine' } }).unused, ['DaemonSet/x:spec']);
  });

  it('asks once for all images of one own registry', () => {
    const two = (text: string) => agents({ containers: ['a', 'b'].map((name) => ({ name, image: text })) });
    const { conflicts, edits } = told(
      [two('docker.io/x/node:v3.27.2')],
      [two('own.example/x/node:v3.27.2-m')],
      [two('quay.io/x/node:v3.32.1')],
    );
    assert.deepEqual([conflicts.map((one) => one.field), edits.length], [['images:own.example/x'], 2]);
  });
});

describe('mergeManifest, with changes in the cluster', () => {
  const applied = env({ A: '1', B: '2' });
  const defaulted = (fields: object): KubeObject =>
    container({ ...(containersOf(applied)[0] ?? {}), terminationMessagePath: '/dev/log', ...fields });
  const containersOf = (one: KubeObject): readonly object[] => {
    const { spec } = one as unknown as { spec: { template: { spec: { containers: readonly object[] } } } };
    return spec.template.spec.containers;
  };

  it('takes no default of the server for an edit', () => {
    const live = [{ before: defaulted({}), now: defaulted({}) }];
    assert.deepEqual(told([applied], [applied], [applied], { live }).told, []);
  });

  it('carries a live change over a default and names who made it', () => {
    const now: KubeObject = {
      ...defaulted({ terminationMessagePath: '/own' }),
      metadata: {
        name: 'node',
        namespace: 'kube-system',
        managedFields: [
          {
            manager: 'kubectl-edit',
            operation: 'Update',
            fieldsV1: {
              'f:spec': { 'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"c"}': { 'f:terminationMessagePath': {} } } } } },
            },
          },
        ],
      },
    };
    const { documents, edits } = told([applied], [applied], [applied], { live: [{ before: defaulted({}), now }], mineIs: 'last-applied' });
    assert.deepEqual(documents, [container({ ...containersOf(applied)[0], terminationMessagePath: '/own' })]);
    assert.deepEqual(
      edits.map(({ source, outcome }) => [source, outcome]),
      [[{ kind: 'live', manager: 'kubectl-edit' }, 'kept']],
    );
  });

  it('tells edits of the file from those of the cluster', () => {
    const live = [{ before: env({ A: '1', B: '3' }), now: env({ B: '3' }) }];
    const { edits, documents } = told([applied], [env({ A: '1', B: '3' })], [applied], { live });
    assert.deepEqual(
      edits.map(({ path, source }) => `${source.kind} ${path.replace(/.*env/, 'env')}`),
      ['live env[A]', 'file env[B].value'],
    );
    assert.deepEqual(documents, [env({ B: '3' })]);
  });

  it('takes an object that nobody noted for the release’s own with its live changes', () => {
    const live = [{ before: env({ A: '1', B: '2' }), now: env({ A: '9', B: '2' }) }];
    const { documents } = told([applied], [], [env({ A: '1', B: '2', C: '3' })], { live });
    assert.deepEqual(documents, [env({ A: '9', B: '2', C: '3' })]);
  });

  it('leaves out the numbers that the server hands out to each Service', () => {
    const service = (spec: object) => object('v1', 'Service', 'typha', { spec });
    const live = [
      {
        before: service({ clusterIP: '10.0.0.1', ports: [{ port: 1, nodePort: 30001 }] }),
        now: service({ clusterIP: '10.0.0.2', ports: [{ port: 1, nodePort: 30002 }] }),
      },
    ];
    const own = service({ ports: [{ port: 1 }] });
    assert.deepEqual(told([own], [own], [own], { live }).told, []);
  });

  it('follows a registry that was set in the cluster', () => {
    const live = [{ before: image('docker.io/x/node:v3.27.2'), now: image('own.example/x/node:v3.27.2') }];
    const { documents } = told([image('docker.io/x/node:v3.27.2')], [], [image('quay.io/x/node:v3.32.1')], { live });
    assert.deepEqual(documents, [image('own.example/x/node:v3.32.1')]);
  });
});
