import assert from 'node:assert/strict';
import fc from 'fast-check';
import { namingOf, whyNoName } from '../../../src/features/going-back/former-names.ts';
import { readsOwnMetadata } from '../../../src/features/going-back/own-metadata.ts';
import { judgeNames, namedWriters, saysTheSame } from '../../../src/features/going-back/policy-names.ts';
import type { KubeObject, ObjectMeta } from '../../../src/kernel/object.ts';
import { policyName } from '../../../src/kube/stored-metadata.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { askedBy, labelsBy, type OldRelease, shownBy, tierBy } from '../../support/old-release.ts';

const MADE = '2026-01-01T10:00:00Z';
const STORED_AT = '2026-11-01T10:00:00Z';

interface Parts extends Partial<ObjectMeta> {
  readonly kind?: string;
  readonly tier?: string;
  /** What the annotation says; null for a policy without it. */
  readonly noted?: object | null;
  readonly spec?: object;
}

/** As v3.32 stores it. */
function policy(name: string, { kind = 'GlobalNetworkPolicy', tier = 'default', noted, spec, ...more }: Parts = {}): KubeObject {
  const own: Readonly<Record<string, string>> =
    noted === null ? {} : { 'projectcalico.org/metadata': JSON.stringify(noted ?? { name, creationTimestamp: MADE }) };
  const metadata = {
    ...{ name, uid: `uid-${name}`, resourceVersion: '7', generation: 1, creationTimestamp: STORED_AT },
    ...more,
    annotations: { ...own, ...more.annotations },
  };
  return { apiVersion: 'crd.projectcalico.org/v1', kind, metadata, spec: { tier, selector: 'all()', ...spec } };
}

function judged(release: string, ...policies: readonly KubeObject[]) {
  const naming = namingOf(release, calico);
  assert.ok(naming, release);
  return judgeNames(policies, { naming, profile: calico, ownMetadata: readsOwnMetadata(release, calico) });
}

const texts = (release: string, ...policies: readonly KubeObject[]) => {
  const { moves, unnameable, conflicts, handWritten } = judged(release, ...policies);
  return {
    moves: moves.map(({ from, copy, there }) => `${from.name} → ${copy.metadata.name}${there ? ` (${there.is})` : ''}`),
    unnameable: unnameable.map(({ object, detail }) => `${object.name}: ${detail}`),
    conflicts: conflicts.map(({ object, detail }) => `${object.name}: ${detail}`),
    handWritten: handWritten.map(({ name }) => name),
  };
};

const OLD: readonly OldRelease[] = ['v3.26.4', 'v3.29.0', 'v3.31.7'];
const NOTHING = { moves: [], unnameable: [], conflicts: [], handWritten: [] };

describe('former names of policies', () => {
  const rows: readonly [string, string | undefined][] = [
    ['v3.15.5', 'cut'],
    ['v3.28.5', 'cut'],
    ['v3.29.0', 'stored'],
    ['v3.29.3', 'stored'],
    ['v3.29.4', 'noted'],
    ['v3.31.7', 'noted'],
    ['v3.32.0', undefined],
  ];
  for (const [release, shows] of rows)
    it(`of ${release} are ${shows ?? 'the stored ones'}`, () => assert.equal(namingOf(release, calico)?.shows, shows));

  for (const release of OLD) {
    it(`of ${release}: each policy that is put back is found, shown and enforced as the release's own sources say`, () => {
      const label = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,8}[a-z0-9])?$/);
      const name = fc.oneof(
        label,
        fc.tuple(label, label).map((two) => two.join('.')),
        label.map((one) => `default.${one}`),
      );
      const stored = fc.record({ name, isNoted: fc.boolean(), labels: fc.dictionary(label, label, { maxKeys: 2 }) });
      fc.assert(
        fc.property(fc.uniqueArray(stored, { selector: (one) => one.name, maxLength: 6 }), (all) => {
          const policies = all.map((one) =>
            policy(one.name, { noted: { ...(one.isNoted ? { name: one.name } : {}), labels: one.labels, creationTimestamp: MADE } }),
          );
          const { moves, unnameable, conflicts } = judged(release, ...policies);
          const out = new Set([...unnameable, ...conflicts].map(({ object }) => object.name));
          const gone = new Set(moves.map(({ from }) => from.name));
          const now = [...policies.filter(({ metadata }) => !gone.has(metadata.name)), ...moves.map(({ copy }) => copy)];
          for (const one of now) {
            if (out.has(one.metadata.name)) continue;
            const shown = shownBy(release, one);
            // A listed name is asked for, and leads to the very policy: the old API server gets, changes and deletes it.
            assert.equal(askedBy(release, shown), one.metadata.name, shown);
            assert.equal(tierBy(release, one), 'default');
          }
          for (const { from, copy } of moves) {
            const before = policies.find(({ metadata }) => metadata.name === from.name);
            assert.ok(before);
            const plain = policyName(before, calico);
            assert.equal(shownBy(release, copy), release === 'v3.29.0' ? `default.${plain}` : plain);
            assert.deepEqual(labelsBy(release, copy), labelsBy('v3.31.7', before));
            assert.deepEqual(copy.spec, before.spec);
            assert.ok(saysTheSame(copy, before, calico.apiGroup));
          }
        }),
      );
    });
  }

  it('are asked by no release where they cannot be', () => {
    const [oldest, newer] = ['v3.26.4', 'v3.31.7'].map((release) => namingOf(release, calico));
    assert.ok(oldest && newer);
    assert.equal(whyNoName('web', oldest), undefined);
    assert.match(whyNoName('a.b', oldest) ?? '', /dot in the name/);
    assert.match(whyNoName('a.b', newer) ?? '', /for a tier/);
    assert.equal(whyNoName('a'.repeat(245), newer), undefined);
    assert.match(whyNoName('a'.repeat(246), newer) ?? '', /too long by 1$/);
  });
});

describe('stored policies before a rollback', () => {
  const cases: readonly [string, string, readonly KubeObject[], Partial<ReturnType<typeof texts>>][] = [
    ['one that the controllers renamed', 'v3.26.4', [policy('web')], { moves: ['web → default.web'] }],
    ['of a namespace', 'v3.31.7', [policy('web', { kind: 'NetworkPolicy', namespace: 'shop' })], { moves: ['web → default.web'] }],
    ['one that they had not renamed yet', 'v3.26.4', [policy('default.web', { noted: { creationTimestamp: MADE } })], {}],
    ['one that has the prefix in its own name', 'v3.31.7', [policy('default.web')], {}],
    ['one without the annotation', 'v3.26.4', [policy('web', { noted: null })], { handWritten: ['web'] }],
    [
      'one without it, with a dot, where agents read the tier in the name',
      'v3.31.7',
      [policy('a.b', { noted: null })],
      { unnameable: ['a.b: its agents take what stands before the dot for a tier'] },
    ],
    ['one without it, with a dot, where they do not', 'v3.26.4', [policy('a.b', { noted: null })], { handWritten: ['a.b'] }],
    ['one with a dot', 'v3.26.4', [policy('a.b')], { unnameable: ['a.b: it refuses to change policies with a dot in the name'] }],
    ['a staged one of a release that has none', 'v3.29.4', [policy('web', { kind: 'StagedNetworkPolicy', namespace: 'shop' })], {}],
    ['a staged one', 'v3.30.0', [policy('web', { kind: 'StagedGlobalNetworkPolicy' })], { moves: ['web → default.web'] }],
    ['one of another tier', 'v3.31.7', [policy('sec.web', { tier: 'sec' })], {}],
    [
      'one of another tier that its name does not say',
      'v3.31.7',
      [policy('web', { tier: 'sec' })],
      { unnameable: ['web: it is in tier sec, and its agents read the tier in the name: only names like sec.NAME are in it'] },
    ],
    ['one with finalizers', 'v3.31.7', [policy('web', { finalizers: ['a/b'] })], { unnameable: ['web: it has finalizers: a/b'] }],
    ['one that goes', 'v3.31.7', [policy('web', { deletionTimestamp: STORED_AT })], { unnameable: ['web: it is being deleted'] }],
    [
      'an equal one in its place',
      'v3.26.4',
      [policy('web'), policy('default.web', { noted: {} })],
      { moves: ['web → default.web (equal)'] },
    ],
    [
      'an equal one in its place, written by an older release',
      'v3.26.4',
      [
        policy('web', { noted: { name: 'web', labels: { a: 'b' } }, labels: { 'projectcalico.org/tier': 'default' } }),
        policy('default.web', { noted: { uid: 'x' }, labels: { a: 'b' }, spec: { tier: undefined } }),
      ],
      { moves: ['web → default.web (equal)'] },
    ],
    [
      'another one in its place',
      'v3.26.4',
      [policy('web'), policy('default.web', { spec: { selector: 'role == "db"' } })],
      { conflicts: ['web: GlobalNetworkPolicy/default.web differs from it: the old release knows both as default.web'] },
    ],
    [
      'one in its place that differs in its labels alone',
      'v3.26.4',
      [policy('web'), policy('default.web', { labels: { a: 'b' } })],
      { conflicts: ['web: GlobalNetworkPolicy/default.web differs from it: the old release knows both as default.web'] },
    ],
    [
      'another that wants the same place',
      'v3.26.4',
      [policy('web'), policy('front', { noted: { name: 'web' } })],
      {
        moves: ['web → default.web'],
        conflicts: ['front: GlobalNetworkPolicy/web differs from it: the old release knows both as default.web'],
      },
    ],
  ];
  for (const [what, release, policies, wanted] of cases)
    it(`${what} (${release})`, () => assert.deepEqual(texts(release, ...policies), { ...NOTHING, ...wanted }));

  const copy = (more: Partial<ObjectMeta> = {}, spec: object = { selector: 'old' }) =>
    policy('default.web', {
      noted: { creationTimestamp: MADE },
      creationTimestamp: '2026-11-02T10:00:00Z',
      managedFields: [{ manager: 'netsvc-upgrade' }],
      spec,
      ...more,
    });

  it('a copy that we made before somebody changed the policy is made again', () => {
    assert.deepEqual(texts('v3.26.4', policy('web'), namedWriters(copy())).moves, ['web → default.web (stale)']);
  });

  const others: readonly [string, Partial<ObjectMeta>][] = [
    ['somebody else wrote', { managedFields: [{ manager: 'netsvc-upgrade' }, { manager: 'kubectl' }] }],
    ['somebody else made', { managedFields: [{ manager: 'calicoctl' }] }],
    ['nobody knows who made', { managedFields: [] }],
    ['was changed since', { generation: 2 }],
    ['is older than the policy', { creationTimestamp: '2026-10-01T10:00:00Z' }],
    ['is of another policy', { annotations: { 'projectcalico.org/metadata': '{"creationTimestamp":"2026-02-02T00:00:00Z"}' } }],
    ['is being deleted', { deletionTimestamp: STORED_AT }],
  ];
  for (const [what, more] of others)
    it(`one in its place that ${what} is not ours to delete`, () => {
      const { moves, conflicts } = texts('v3.26.4', policy('web'), copy(more));
      assert.deepEqual([moves, conflicts.length], [[], 1]);
    });
});

describe('the copy of a policy', () => {
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'app', uid: 'u' };
  const web = policy('web', {
    noted: { name: 'web', creationTimestamp: MADE, labels: { env: 'prod' }, annotations: { note: 'mine' }, ownerReferences: [owner] },
    labels: { 'projectcalico.org/tier': 'default' },
    ownerReferences: [owner],
    managedFields: [{ manager: 'calico-apiserver' }],
  });
  const copyFor = (release: string, of = web) => judged(release, of).moves[0]?.copy;
  const notedIn = (one: KubeObject | undefined) => JSON.parse(one?.metadata.annotations?.['projectcalico.org/metadata'] ?? '{}') as object;

  it('has what the server sets from the server', () => {
    const { uid, resourceVersion, generation, creationTimestamp, managedFields, ownerReferences } = copyFor('v3.31.7')?.metadata ?? {};
    assert.deepEqual([uid, resourceVersion, generation, creationTimestamp, managedFields], Array(5).fill(undefined));
    assert.deepEqual(ownerReferences, [owner]);
  });

  it('notes its name where the old release shows that, its age always, and the rest as it was', () => {
    const rest = { creationTimestamp: MADE, labels: { env: 'prod' }, annotations: { note: 'mine' }, ownerReferences: [owner] };
    assert.deepEqual(notedIn(copyFor('v3.31.7')), { name: 'web', ...rest });
    assert.deepEqual(notedIn(copyFor('v3.29.0')), rest);
    assert.deepEqual(notedIn(copyFor('v3.26.4')), rest);
    const ageless = policy('web', { noted: { creationTimestamp: null } });
    assert.deepEqual(notedIn(copyFor('v3.31.7', ageless)), { name: 'web', creationTimestamp: STORED_AT });
  });

  it('has labels and annotations of its own for who reads these alone', () => {
    assert.deepEqual(copyFor('v3.31.7')?.metadata.labels, { 'projectcalico.org/tier': 'default' });
    assert.deepEqual(copyFor('v3.26.4')?.metadata.labels, { 'projectcalico.org/tier': 'default', env: 'prod' });
    assert.equal(copyFor('v3.26.4')?.metadata.annotations?.note, 'mine');
  });
});
