import assert from 'node:assert/strict';
import type { KubeObject } from '../../src/kernel/object.ts';
import { prune } from '../../src/kube/fields-v1.ts';
import { isNoise } from '../../src/manifest/alike.ts';
import { differences } from '../../src/manifest/carried-file.ts';
import { ImageMap, repositoryAndTag } from '../../src/manifest/images.ts';
import { mergeManifest } from '../../src/manifest/merge.ts';
import type { MergeInput } from '../../src/manifest/merge-input.ts';
import { identityOf } from '../../src/manifest/prepare.ts';
import { agents, config, container } from '../support/merge-cases.ts';

const object = (apiVersion: string, kind: string, name: string, fields: object = {}): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name, ...(kind.startsWith('Cluster') ? {} : { namespace: 'kube-system' }) },
  ...fields,
});
const secret = (data: object) => object('v1', 'Secret', 'own', { data });
const role = (...rules: readonly object[]) => object('rbac.authorization.k8s.io/v1', 'ClusterRole', 'node', { rules });
const rule = (resource: string, verbs: readonly string[], more: object = {}) => ({
  apiGroups: [''],
  resources: [resource],
  verbs,
  ...more,
});

function told(base: readonly KubeObject[], mine: readonly KubeObject[], theirs: readonly KubeObject[], more: Partial<MergeInput> = {}) {
  const { documents, edits } = mergeManifest({ base, mine, theirs, ...more });
  return { documents, told: edits.map(({ outcome, change, ref, path }) => `${outcome} ${change} ${ref.kind} ${path}`.trim()) };
}

describe('corners of the merge', () => {
  it('leave nothing of a container that the release dropped, whatever was taken out of it', () => {
    const mounting = (...volumeMounts: readonly object[]) =>
      agents({ containers: [{ name: 'c' }], initContainers: [{ name: 'driver', volumeMounts }] });
    const target = agents({ containers: [{ name: 'c' }], initContainers: [{ name: 'other' }] });
    const { documents } = told([mounting({ name: 'host', mountPath: '/host' })], [mounting()], [target]);
    assert.deepEqual(documents, [target]);
  });

  it('carry an entry of a map that the release dropped whole: it makes sense without the others', () => {
    const labelled = (labels: Readonly<Record<string, string>> | undefined) => ({
      ...agents({}),
      ...(labels ? { metadata: { ...agents({}).metadata, labels } } : {}),
    });
    const { documents } = told([labelled({ a: '1' })], [labelled({ a: '1', team: 'net' })], [labelled(undefined)]);
    assert.deepEqual(documents[0]?.metadata.labels, { team: 'net' });
  });

  it('keep the order of the target’s text, with what is the person’s after it', () => {
    const { documents } = told([config({ a: '1', b: '1' })], [config({ mine: 'x', b: '2', a: '1' })], [config({ a: '1', b: '1', c: '1' })]);
    assert.deepEqual(Object.keys((documents[0]?.data ?? {}) as object), ['a', 'b', 'c', 'mine']);
  });

  it('move two mounts of one volume to two places', () => {
    const mounts = (...paths: readonly string[]) => container({ volumeMounts: paths.map((mountPath) => ({ name: 'run', mountPath })) });
    const { documents } = told([mounts('/a', '/b')], [mounts('/x', '/y')], [mounts('/a', '/b')]);
    assert.deepEqual(documents, [mounts('/x', '/y')]);
    const one = told([mounts('/a', '/b')], [mounts('/x')], [mounts('/a', '/b')]);
    assert.deepEqual(one.documents, [mounts('/x')]);
    assert.deepEqual(
      one.told.map((text) => text.replace(/ DaemonSet .*volumeMounts/, '')),
      ['kept change[/a]', 'kept remove[/b]'],
    );
  });

  it('write no Secret that the person added, and make none again that is away, whatever was decided', () => {
    const own = secret({ key: 'Z2VoZWlt' });
    assert.deepEqual(told([], [own], []).documents, []);
    const resolutions = { 'Secret/kube-system/own': 'mine' } as const;
    const { documents, told: edits } = told([], [own], [], { away: new Map([[identityOf(own), 'absent']]), resolutions });
    assert.deepEqual([documents, edits], [[], ['obsolete add Secret']]);
  });

  it('take bindings from the target, subject by subject', () => {
    const binding = (...names: readonly string[]) =>
      object('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', 'node', {
        subjects: names.map((name) => ({ kind: 'ServiceAccount', name, namespace: 'kube-system' })),
      });
    const { documents, told: edits } = told([binding('node')], [binding('node', 'mine')], [binding('node')]);
    assert.deepEqual(documents, [binding('node')]);
    assert.ok(edits.length > 0 && edits.every((one) => one.startsWith('target ')), edits.join());
  });

  it('bring the agents back, though the person took them out: nothing works without them', () => {
    const { documents, told: edits } = told([agents({})], [], [agents({})]);
    assert.deepEqual([documents, edits], [[agents({})], ['target remove DaemonSet']]);
  });

  it('do not guess a mirror’s folder from images that went two ways', () => {
    const moves = new ImageMap();
    const learn = (from: string, to: string) => moves.learn(repositoryAndTag(from), repositoryAndTag(to));
    learn('quay.io/calico/node:v1.0.0', 'one.example.org/calico/node:v1.0.0');
    assert.equal(moves.find('quay.io/calico/cni'), 'one.example.org/calico/cni');
    learn('quay.io/calico/typha:v1.0.0', 'two.example.org/calico/typha:v1.0.0');
    assert.equal(moves.find('quay.io/calico/cni'), undefined);
  });

  it('take a right on all names, or all verbs, for the right on one', () => {
    const [wide, narrow] = [rule('pods', ['*']), rule('pods', ['get'], { resourceNames: ['one'] })];
    assert.deepEqual(told([role(wide)], [role(wide, narrow)], [role(wide)]), { documents: [role(wide)], told: [] });
    const named = rule('pods', ['get'], { resourceNames: ['two'] });
    const { documents, told: edits } = told([role(narrow)], [role(narrow, named)], [role(narrow)]);
    assert.deepEqual([documents, edits.length], [[role(narrow, named)], 1]);
  });

  it('take another release of an image for noise, and a tag of one’s own for an edit', () => {
    const image = (before: string, after: string) => ({ path: 'spec.containers[a].image', before, after });
    assert.equal(isNoise(image('quay.io/calico/node:v3.27.5', 'quay.io/calico/node:v3.32.1')), true);
    assert.equal(isNoise(image('quay.io/calico/node:v3.27.5-m1', 'quay.io/calico/node:v3.32.1')), false);
    assert.equal(isNoise(image('quay.io/calico/node:v3.27.5', 'quay.io/calico/node:debug')), false);
  });

  it('write no Secret with values into the upgrade file, an empty one as it is', () => {
    const write = (one: KubeObject) => differences([{ name: 'upgrade.yaml', text: '', documents: [config({})] }], [config({}), one]);
    assert.throws(() => write(secret({ key: 'Z2VoZWlt' })), /Secret\/kube-system\/own of your file has values/);
    assert.deepEqual(write(secret({})).get('upgrade.yaml')?.changed, [secret({})]);
  });

  it('prune what nobody owns any more, though a field of that name is owned elsewhere', () => {
    const last = { 'f:spec': { 'f:a': { 'f:x': {} }, 'f:b': {} } };
    assert.deepEqual(prune({ spec: { a: { x: 1 }, b: 2 } }, last, { 'f:spec': { 'f:b': {} } }), { spec: { b: 2 } });
    // `.` of a list item makes it a member: without its parent owned, what is below is not either.
    const items = { 'f:list': { 'k:{"name":"a"}': { '.': {}, 'f:name': {}, 'f:v': {} } } };
    const value = { list: [{ name: 'a', v: 1 }] };
    assert.deepEqual(prune(value, items, {}), {});
    const inner = { 'f:list': { 'k:{"name":"a"}': { 'f:v': {} } } };
    assert.deepEqual(prune(value, inner, inner), { list: [{ name: 'a' }] });
  });
});
