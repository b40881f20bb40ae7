import assert from 'node:assert/strict';
import { type Removal, removalOf, type Standing, type Way } from '../../../src/features/ownerrefs/removal-rule.ts';
import { wayFrom } from '../../../src/features/ownerrefs/uid-change.ts';
import type { Installation } from '../../../src/kernel/installation.ts';
import type { Profile } from '../../../src/kernel/profile.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { netsvc } from '../../../src/profiles/netsvc.ts';
import { contextOf, installation } from '../../fixtures/facts.ts';
import { CALICO_TARGET } from '../../support/target.ts';

interface Ground {
  readonly profile?: Profile;
  readonly datastore?: Installation['datastore'];
  readonly agent?: string;
  readonly held?: boolean;
  readonly hasBegun?: boolean;
}

function way(source: string | undefined, target: string, ground: Ground = {}): Way {
  const { profile = calico, datastore = 'api', agent = 'calico-node', held = false, hasBegun = false } = ground;
  const context = contextOf({ release: target, ...(held ? { holdPolicyMigration: true } : {}) }, profile);
  const found = {
    ...installation,
    datastore,
    agent: { kind: 'DaemonSet', namespace: 'kube-system', name: agent, container: 'x' },
  } as const;
  return wayFrom(source, found, context, hasBegun);
}

/** Everything that can be referred to, by what is known of it. */
const alive: Standing = {
  ...{ isStored: false, isNoted: false, isAlive: true, hasNewUid: false, isStoredOtherwise: false, namesStoredUid: false },
};
const REFERENCES = {
  kind: alive,
  policy: { ...alive, isStoredOtherwise: true },
  'stored kind': { ...alive, isStored: true },
  'stored policy': { ...alive, isStored: true, isStoredOtherwise: true },
  noted: { ...alive, isNoted: true },
  'noted stored kind': { ...alive, isNoted: true, isStored: true },
  unconverted: { ...alive, namesStoredUid: true },
  'stored UID': { ...alive, isAlive: false, namesStoredUid: true },
  'stored object under it': { ...alive, isAlive: false, namesStoredUid: true, isStored: true },
  gone: { ...alive, isAlive: false, isStoredOtherwise: true, isNoted: true },
  unread: { ...alive, isAlive: undefined },
} as const satisfies Record<string, Standing>;
type Sort = keyof typeof REFERENCES;

const NOTED = ['noted', 'noted stored kind'] as const;
const V3 = ['kind', 'unconverted', 'unread', ...NOTED] as const;
/** Where no UID changes by the releases: what an API server serves that nobody has identified. */
const AS_READ = { 'stored-uid': ['stored UID', 'unconverted'] } as const;
const WAYS: readonly (readonly [string, Way, Partial<Record<Removal, readonly Sort[]>>])[] = [
  ['v3.15 to v3.32', way('v3.15.5', CALICO_TARGET), { 'uid-change': V3, 'stored-name': ['policy', 'stored policy'] }],
  ['v3.27 to v3.32', way('v3.27.4', CALICO_TARGET), { 'uid-change': V3, 'stored-name': ['policy', 'stored policy'] }],
  ['an unknown release to v3.32', way(undefined, CALICO_TARGET), { 'uid-change': V3, 'stored-name': ['policy', 'stored policy'] }],
  ['a moving tag to v3.32', way('master', CALICO_TARGET), { 'uid-change': V3, 'stored-name': ['policy', 'stored policy'] }],
  ['v3.26 to v3.27.5', way('v3.26.5', 'v3.27.5'), { 'uid-change': [...V3, 'policy'] }],
  ['v3.26 to v3.27.4', way('v3.26.5', 'v3.27.4'), {}],
  ['v3.27.5 to v3.27.4', way('v3.27.5', 'v3.27.4'), { 'uid-change': [...V3, 'policy'] }],
  ['v3.26 to v3.31', way('v3.26.5', 'v3.31.7'), { 'uid-change': [...V3, 'policy'] }],
  ['v3.31 to v3.26', way('v3.31.7', 'v3.26.5'), { 'uid-change': [...V3, 'policy'] }],
  ['v3.27.5 to v3.28', way('v3.27.5', 'v3.28.0'), { ...AS_READ, 'uid-change': NOTED }],
  ['v3.27.5 to v3.32', way('v3.27.5', CALICO_TARGET), { ...AS_READ, 'uid-change': NOTED, 'stored-name': ['policy', 'stored policy'] }],
  ['v3.28 to v3.31', way('v3.28.0', 'v3.31.7'), { ...AS_READ }],
  ['v3.28 to v3.32', way('v3.28.0', CALICO_TARGET), { ...AS_READ, 'stored-name': ['policy', 'stored policy'] }],
  ['v3.31 to v3.32', way('v3.31.7', CALICO_TARGET), { ...AS_READ, 'stored-name': ['policy', 'stored policy'] }],
  ['v3.31 to v3.32, held', way('v3.31.7', CALICO_TARGET, { held: true }), { ...AS_READ, 'stored-name': ['policy', 'stored policy'] }],
  [
    'v3.31 to v3.32 on canal',
    way('v3.31.7', CALICO_TARGET, { agent: 'canal' }),
    { ...AS_READ, 'stored-name': ['policy', 'stored policy'] },
  ],
  ['v3.32.1 to v3.32.2, held', way('v3.32.1', 'v3.32.2', { held: true }), { ...AS_READ, 'stored-name': ['policy', 'stored policy'] }],
  // Nothing stores them again there: what names the stored one would be removed and put back by every run.
  ['v3.32.1 to v3.32.2 on canal', way('v3.32.1', 'v3.32.2', { agent: 'canal' }), { ...AS_READ, 'stored-name': ['policy'] }],
  [
    'v3.27 to v3.32 in key-value mode',
    way('v3.27.4', CALICO_TARGET, { datastore: 'kvstore' }),
    {
      ...{ 'key-value': V3, 'stored-name': ['policy', 'stored policy'] },
    },
  ],
  ['v3.28 to v3.31 in key-value mode', way('v3.28.0', 'v3.31.7', { datastore: 'kvstore' }), { ...AS_READ }],
  ['v3.27.5 to v3.28 of a service without backports', way('v3.27.5', 'v3.28.0', { profile: netsvc }), { 'uid-change': [...V3, 'policy'] }],
];

describe('the rule for owner references', () => {
  for (const [title, on, removals] of WAYS)
    it(`on the way from ${title}`, () => {
      const removed = (sort: Sort) => removalOf(REFERENCES[sort], on);
      const sorts = (Object.keys(REFERENCES) as Sort[]).filter((sort) => removed(sort) !== undefined);
      const found = Object.fromEntries(Map.groupBy(sorts, (sort) => removed(sort)));
      const wanted = { 'stored-uid': ['stored UID'] as readonly Sort[], ...removals };
      const ordered = (by: object) => Object.fromEntries(Object.entries(by).map(([key, all]) => [key, all.toSorted()]));
      assert.deepEqual(ordered(found), ordered(wanted));
    });

  describe('once the run has begun to replace the API server', () => {
    const begun = way('v3.26.5', CALICO_TARGET, { hasBegun: true });

    it('leaves what has its new UID, and removes what does not', () => {
      for (const sort of V3)
        assert.equal(removalOf({ ...REFERENCES[sort], hasNewUid: true, namesStoredUid: false }, begun), undefined, sort);
      for (const sort of V3) assert.equal(removalOf(REFERENCES[sort], begun), 'uid-change', sort);
    });

    it('removes what has it before: nobody knows of another API server', () => {
      assert.equal(removalOf({ ...alive, hasNewUid: true }, way('v3.26.5', CALICO_TARGET)), 'uid-change');
    });

    it('leaves everything in key-value mode, where no UID tells what was put back', () => {
      const kvstore = way('v3.26.5', CALICO_TARGET, { datastore: 'kvstore', hasBegun: true });
      assert.deepEqual([removalOf(alive, kvstore), removalOf(REFERENCES.policy, kvstore)], [undefined, undefined]);
    });

    it('leaves stored policies that nobody renames', () => {
      const canal = way('v3.26.5', CALICO_TARGET, { hasBegun: true, agent: 'canal' });
      assert.equal(removalOf(REFERENCES['stored policy'], canal), undefined);
      assert.equal(removalOf(REFERENCES['stored policy'], begun), 'stored-name');
    });
  });
});
