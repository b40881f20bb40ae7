import assert from 'node:assert/strict';
import { hostEndpointOf, originOf } from '../../../src/features/policy-rules/host-endpoint.ts';
import { isLabelKey, isLabelValue, labelCopies } from '../../../src/features/policy-rules/label-copies.ts';
import type { Labels } from '../../../src/features/policy-rules/selector.ts';
import { GROUP, hep, SIGNS } from './fleet.ts';

const copies = (node: Labels, ...endpoints: readonly Labels[]) =>
  labelCopies(
    endpoints.map((labels, index) => hostEndpointOf(hep(`e${index}`, 'n1', labels), GROUP)),
    node,
    SIGNS,
  );

describe('copying labels to nodes', () => {
  it('copies what the node lacks and leaves what it has', () => {
    const { copies: made, problems } = copies({ there: '1' }, { there: '1', new: '2', empty: '' });
    assert.deepEqual(
      made.map(({ key, value }) => [key, value]),
      [
        ['new', '2'],
        ['empty', ''],
      ],
    );
    assert.deepEqual(problems, []);
  });

  it('reports another value on the node and does not copy', () => {
    const { copies: made, problems } = copies({ role: 'core' }, { role: 'edge' });
    assert.deepEqual(made, []);
    assert.deepEqual(problems, [{ key: 'role', value: 'edge', from: 'e0', problem: 'conflict', other: 'core' }]);
  });

  it('copies what only the service’s own node has, reports another value there, and lets the Kubernetes node win', () => {
    const endpoint = hostEndpointOf(hep('e', 'n1', { same: '1', other: '2', shadowed: '3', 'k8s.io/y': '4' }), GROUP);
    const own = { same: '1', other: 'x', shadowed: 'x', 'k8s.io/y': '4' };
    const { copies: made, problems } = labelCopies([endpoint], { shadowed: '3' }, SIGNS, own);
    assert.deepEqual(
      made.map(({ key }) => key),
      ['same'],
    );
    assert.deepEqual(problems, [{ key: 'other', value: '2', from: 'e', problem: 'conflict', other: 'x' }]);
  });

  it('reports two old endpoints that disagree and copies neither value', () => {
    const { copies: made, problems } = copies({}, { role: 'a' }, { role: 'b' });
    assert.deepEqual(made, []);
    assert.deepEqual(
      problems.map(({ problem, from }) => [problem, from]),
      [['conflict', 'e1']],
    );
  });

  it('leaves the created-by label alone and reports reserved and invalid ones', () => {
    const { copies: made, problems } = copies(
      {},
      {
        [SIGNS.createdBy]: 'someone',
        'kubernetes.io/os': 'linux',
        'node-role.kubernetes.io/x': '',
        'k8s.io/y': '1',
        bad: 'a b',
        good: 'x',
      },
    );
    assert.deepEqual(
      made.map(({ key }) => key),
      ['good'],
    );
    assert.deepEqual(
      problems.map(({ key, problem }) => [key, problem]),
      [
        ['kubernetes.io/os', 'reserved'],
        ['node-role.kubernetes.io/x', 'reserved'],
        ['k8s.io/y', 'reserved'],
        ['bad', 'invalid'],
      ],
    );
  });

  for (const [key, valid] of [
    ['a', true],
    ['a.b/c_d-e', true],
    ['a/b/c', false],
    ['/a', false],
    ['a/', false],
    ['-a', false],
    ['under_score/x', false],
    ['UPPER/x', false],
    ['k8s.io_x', true],
    ['x'.repeat(63), true],
    ['x'.repeat(64), false],
  ] as const) {
    it(`${valid ? 'takes' : 'refuses'} the key ${key.slice(0, 20)}`, () => assert.equal(isLabelKey(key), valid));
  }

  for (const [value, valid] of [
    ['', true],
    ['a', true],
    ['a:b', false],
    ['.a', false],
    ['a-', false],
    ['A_b.c-1', true],
    ['x'.repeat(64), false],
  ] as const) {
    it(`${valid ? 'takes' : 'refuses'} the value ${JSON.stringify(value.slice(0, 20))}`, () => assert.equal(isLabelValue(value), valid));
  }
});

describe('reading host endpoints', () => {
  it('merges labels of the annotation and of the object; the annotation wins', () => {
    const stored = hep('e', 'n1', { team: 'crd', only: 'crd' });
    const annotated = {
      ...stored,
      metadata: { ...stored.metadata, annotations: { [`${GROUP}/metadata`]: JSON.stringify({ labels: { team: 'ann', new: '1' } }) } },
    };
    assert.deepEqual(hostEndpointOf(annotated, GROUP).labels, { team: 'ann', only: 'crd', new: '1' });
  });

  it('reads past an annotation that is no JSON', () => {
    const stored = hep('e', 'n1', { a: '1' });
    const broken = { ...stored, metadata: { ...stored.metadata, annotations: { [`${GROUP}/metadata`]: '{' } } };
    assert.deepEqual(hostEndpointOf(broken, GROUP).labels, { a: '1' });
  });

  for (const [name, labels, origin] of [
    ['n1-auto-hep', { [SIGNS.createdBy]: SIGNS.createdByValue }, 'automatic'],
    ['n1-auto-hep', {}, 'unclear'],
    ['n1-auto-hep', { [SIGNS.createdBy]: 'someone' }, 'unclear'],
    ['mine', { [SIGNS.createdBy]: SIGNS.createdByValue }, 'unclear'],
    ['mine', { [SIGNS.createdBy]: 'someone' }, 'old'],
    ['mine', {}, 'old'],
  ] as const) {
    it(`${name} with ${JSON.stringify(labels)} is ${origin}`, () => {
      assert.equal(originOf(hostEndpointOf(hep(name, 'n1', labels), GROUP), SIGNS), origin);
    });
  }
});
