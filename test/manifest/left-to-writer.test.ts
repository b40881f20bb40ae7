import assert from 'node:assert/strict';
import { writerBehind } from '../../src/features/survey/field-takers.ts';
import type { FieldsV1, KubeObject } from '../../src/kernel/object.ts';
import { mergeManifest } from '../../src/manifest/merge.ts';
import type { MergeInput } from '../../src/manifest/merge-input.ts';

interface Part {
  readonly spec?: object;
  readonly annotations?: Readonly<Record<string, string>>;
}

const deployment = ({ spec = {}, annotations }: Part): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'typha', namespace: 'kube-system', ...(annotations ? { annotations } : {}) },
  spec,
});

const REPLICAS: FieldsV1 = { 'f:spec': { 'f:replicas': {} } };
const annotation = (name: string): FieldsV1 => ({ 'f:metadata': { 'f:annotations': { [`f:${name}`]: {} } } });
const entry = (manager: string, fieldsV1: FieldsV1, subresource?: string) => ({
  manager,
  operation: 'Update',
  fieldsV1,
  ...(subresource === undefined ? {} : { subresource }),
});
const AUTOSCALER = entry('kube-controller-manager', REPLICAS, 'scale');
const SCALED_BY_HAND = entry('kubectl', REPLICAS, 'scale');
const FIELD = 'Deployment/kube-system/typha:spec.replicas';

interface Case {
  readonly base: Part;
  readonly applied?: Part;
  readonly now: Part;
  readonly theirs: Part;
  readonly managers: readonly ReturnType<typeof entry>[];
  readonly resolutions?: MergeInput['resolutions'];
}

function told({ base, applied = base, now, theirs, managers, resolutions }: Case) {
  const live = deployment(now);
  const result = mergeManifest({
    base: [deployment(base)],
    mine: [deployment(applied)],
    theirs: [deployment(theirs)],
    live: [{ before: deployment(applied), now: { ...live, metadata: { ...live.metadata, managedFields: managers } } }],
    writerOf: writerBehind,
    ...(resolutions ? { resolutions } : {}),
  });
  const brief = result.edits.map(({ outcome, path, source }) =>
    [outcome, path, source.manager ?? source.kind, source.writer ?? '-'].join(' '),
  );
  return {
    brief,
    merged: result.documents[0] ?? assert.fail('no result'),
    conflicts: result.conflicts.length,
    notes: result.edits.map(({ note }) => note),
  };
}

const replicas = (count: number): Part => ({ spec: { replicas: count } });

describe('what controllers wrote', () => {
  it('of a number that the target sets is kept, and said whose it is', () => {
    const { brief, merged, notes } = told({ base: replicas(1), now: replicas(4), theirs: replicas(1), managers: [AUTOSCALER] });
    assert.deepEqual(brief, ['kept spec.replicas kube-controller-manager a HorizontalPodAutoscaler']);
    assert.deepEqual([merged.spec, notes], [{ replicas: 4 }, ['Set by a HorizontalPodAutoscaler.']]);
  });

  it('of a number that the release changed as well is kept without a question', () => {
    const { brief, merged, conflicts } = told({ base: replicas(1), now: replicas(4), theirs: replicas(2), managers: [AUTOSCALER] });
    assert.deepEqual(brief, ['kept spec.replicas kube-controller-manager a HorizontalPodAutoscaler']);
    assert.deepEqual([merged.spec, conflicts], [{ replicas: 4 }, 0]);
  });

  it('of a number may still be decided by a person', () => {
    const { merged } = told({
      base: replicas(1),
      now: replicas(4),
      theirs: replicas(2),
      managers: [AUTOSCALER],
      resolutions: { [FIELD]: 'theirs' },
    });
    assert.deepEqual(merged.spec, { replicas: 2 });
  });

  it('is a decision where a person scaled by hand and the release changed the number too', () => {
    const { brief, conflicts } = told({ base: replicas(1), now: replicas(4), theirs: replicas(2), managers: [SCALED_BY_HAND] });
    assert.deepEqual([brief, conflicts], [['conflict spec.replicas kubectl -'], 1]);
  });

  for (const [title, base] of [
    ['nobody else ever set', {}],
    ['the target no longer sets', replicas(1)],
  ] as const) {
    it(`of a number that ${title} is left to the autoscaler and not in the file`, () => {
      const { brief, merged } = told({ base, now: replicas(4), theirs: {}, managers: [AUTOSCALER] });
      assert.deepEqual(brief, ['left spec.replicas kube-controller-manager a HorizontalPodAutoscaler']);
      assert.deepEqual(merged.spec, {});
    });
  }

  it('is carried where a person set the number in their file: to leave it out would bring back theirs', () => {
    const { brief, merged } = told({ base: {}, applied: replicas(2), now: replicas(4), theirs: {}, managers: [AUTOSCALER] });
    assert.deepEqual(brief, ['kept spec.replicas kube-controller-manager a HorizontalPodAutoscaler']);
    assert.deepEqual(merged.spec, { replicas: 4 });
  });

  it('into annotations is left to it, beside what a person wrote there', () => {
    const { brief, merged } = told({
      base: {},
      now: { annotations: { 'sidecar.istio.io/rev': 'a', note: 'mine' } },
      theirs: {},
      managers: [entry('istiod', annotation('sidecar.istio.io/rev')), entry('kubectl-annotate', annotation('note'))],
    });
    assert.deepEqual(brief, [
      'kept metadata.annotations kubectl-annotate -',
      'left metadata.annotations[sidecar.istio.io/rev] istiod the mesh Istio',
    ]);
    assert.deepEqual(merged.metadata.annotations, { note: 'mine' });
  });

  it('is a person’s as well where a person owns the same field', () => {
    const managers = [AUTOSCALER, entry('kubectl-edit', REPLICAS)];
    const { brief } = told({ base: {}, now: replicas(4), theirs: {}, managers });
    assert.deepEqual(brief, ['kept spec.replicas kube-controller-manager -']);
  });

  it('is carried as a person’s where nobody knows the manager, or delivery tools bring it', () => {
    for (const manager of ['acme-agent', 'argocd-controller', 'helm'])
      assert.deepEqual(told({ base: {}, now: replicas(4), theirs: {}, managers: [entry(manager, REPLICAS)] }).brief, [
        `kept spec.replicas ${manager} -`,
      ]);
  });

  const CONTAINERS = 'f:containers';
  const within = (key: string, below: FieldsV1): FieldsV1 => ({
    'f:spec': { 'f:template': { 'f:spec': { [CONTAINERS]: { [key]: below } } } },
  });
  const pod = (...containers: readonly object[]): Part => ({ spec: { template: { spec: { containers } } } });
  const NODE = { name: 'node', image: 'x:v1' };

  it('as a container of its own is left to it whole', () => {
    const proxy = { name: 'proxy', image: 'mesh:1' };
    const fields = within('k:{"name":"proxy"}', { '.': {}, 'f:name': {}, 'f:image': {} });
    const { brief, merged } = told({
      base: pod(NODE),
      now: pod(NODE, proxy),
      theirs: pod(NODE),
      managers: [entry('linkerd-proxy', fields)],
    });
    assert.deepEqual(brief, ['left spec.template.spec.containers[proxy] linkerd-proxy the mesh Linkerd']);
    assert.doesNotMatch(JSON.stringify(merged), /proxy/);
  });

  it('into a container that the target no longer has is obsolete: it goes with the container', () => {
    const old = { name: 'old', image: 'x:v1' };
    const fields = within('k:{"name":"old"}', { 'f:workingDir': {} });
    const { brief } = told({
      base: pod(NODE, old),
      now: pod(NODE, { ...old, workingDir: '/x' }),
      theirs: pod(NODE),
      managers: [entry('kyverno', fields)],
    });
    assert.deepEqual(brief, ['obsolete spec.template.spec.containers[old].workingDir kyverno Kyverno']);
  });

  it('into a list that the target sets as a whole is carried: the apply would take it away', () => {
    const tolerations = (...keys: readonly string[]) => ({
      spec: { template: { spec: { containers: [], tolerations: keys.map((key) => ({ key, operator: 'Exists' })) } } },
    });
    const fields: FieldsV1 = { 'f:spec': { 'f:template': { 'f:spec': { 'f:tolerations': {} } } } };
    const { brief } = told({
      base: tolerations('a'),
      now: tolerations('a', 'b'),
      theirs: tolerations('a'),
      managers: [entry('kyverno', fields)],
    });
    assert.deepEqual(
      brief.map((one) => one.split(' ')[0]),
      ['kept'],
    );
  });
});
