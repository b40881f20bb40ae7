import assert from 'node:assert/strict';
import { entryKey, type JournalObject } from '../../../src/features/ownerrefs/journal-entries.ts';
import { followRenamed } from '../../../src/features/ownerrefs/restore-live.ts';
import type { JournalEntry } from '../../../src/kernel/journal.ts';
import { apiVersionOf, type Kind, type KubeObject, type OwnerReference } from '../../../src/kernel/object.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf } from '../../fixtures/facts.ts';
import { clusterOf } from '../../support/cluster-of.ts';
import { entryFor, reference } from '../../support/owner-entries.ts';

const kindIn = (group: string): Kind => ({ group, version: 'v1', kind: 'NetworkPolicy', plural: 'networkpolicies', namespaced: true });
const [stored, plain] = [kindIn('crd.projectcalico.org'), kindIn('networking.k8s.io')];
const [gone, keeper] = [reference('v3:set'), reference('apps:keeper')];

const recordedIn = ({ group, version, kind, plural }: Kind): JournalObject => ({
  ...{ apiVersion: `${group}/${version}`, kind, plural, namespace: 'shop', name: 'default.mine', uid: 'of-before' },
});
const there = (kind: Kind, { shown = 'mine', owners = [keeper], tier = 'default', madeAt = '2026-01-01T00:00:00Z' } = {}): KubeObject => ({
  apiVersion: `${kind.group}/${kind.version}`,
  kind: kind.kind,
  metadata: {
    ...{ name: 'mine', namespace: 'shop', uid: 'of-now', ownerReferences: owners as readonly OwnerReference[] },
    creationTimestamp: '2026-11-21T02:00:00Z',
    annotations: { 'projectcalico.org/metadata': JSON.stringify({ name: shown, creationTimestamp: madeAt }) },
  },
  spec: { tier },
});

/** Names of the recorded objects as they are followed, and what could not be read. */
async function followed(entry: JournalEntry, objects: readonly KubeObject[], { found = false, refused = false } = {}) {
  const refuses = refused ? { refuses: { 'networkpolicies.crd.projectcalico.org': 403 } } : {};
  const { cluster } = clusterOf(objects, { kinds: [stored, plain], ...refuses });
  const live = {
    found: new Map(found ? [[entryKey(entry), { apiVersion: apiVersionOf(stored), uid: 'of-before', references: [keeper] }]] : []),
    unread: [],
  };
  const { entries, live: now } = await followRenamed(cluster, { entries: [entry], live }, contextOf({}, calico));
  return {
    entries: entries.map(({ object: { name, uid } }) => `${name} ${uid}`),
    found: entries.map((one) => now.found.get(entryKey(one))?.references),
    unread: now.unread.map(({ kind }) => kind),
  };
}

describe('a recorded policy that is not there under its old name', () => {
  const entry = entryFor([gone, keeper], recordedIn(stored));

  it('is the one that was stored anew under its own, with what was left on it', async () => {
    assert.deepEqual(await followed(entry, [there(stored)]), { entries: ['mine of-now'], found: [[keeper]], unread: [] });
  });

  it('is known by its age where nothing was left on it', async () => {
    const alone = entryFor([gone], recordedIn(stored));
    const names = async (madeAt: string) => (await followed(alone, [there(stored, { owners: [], madeAt })])).entries;
    assert.deepEqual(await names('2026-01-01T00:00:00Z'), ['mine of-now']);
    assert.deepEqual(await names('2026-11-21T02:00:00Z'), ['default.mine of-before'], 'somebody else made it anew');
    assert.deepEqual(await names('not told'), ['default.mine of-before']);
  });

  const others: readonly [string, JournalEntry, readonly KubeObject[], { readonly found?: boolean }?][] = [
    ['where nothing is there under that name', entry, []],
    ['where it is still there under its old name', entry, [there(stored)], { found: true }],
    ['where that one lacks what was left on it', entry, [there(stored, { owners: [] })]],
    ['where that one is of another tier', entry, [there(stored, { tier: 'sec' })]],
    ['where that one waits for another name itself', entry, [there(stored, { shown: 'other' })]],
    ['where it is no policy of the service', entryFor([gone, keeper], recordedIn(plain)), [there(plain)]],
    ['where its name had no prefix', entryFor([gone, keeper], { ...recordedIn(stored), name: 'secured.mine' }), [there(stored)]],
  ];
  for (const [title, recorded, objects, more] of others)
    it(`is nobody else, ${title}`, async () => {
      const { entries, unread } = await followed(recorded, objects, more);
      assert.deepEqual([entries, unread], [[`${recorded.object.name} of-before`], []]);
    });

  it('is in a rollback the copy under its former name, which has another UID', async () => {
    const again = there(stored);
    const copy = { ...again, metadata: { ...again.metadata, name: 'default.mine' } };
    const { cluster } = clusterOf([copy], { kinds: [stored] });
    const shown = { apiVersion: apiVersionOf(stored), uid: 'of-now', references: [keeper] };
    const live = { found: new Map([[entryKey(entry), shown]]), unread: [] };
    const context = { ...contextOf({}, calico), intent: { kind: 'rollback' } as const };
    const { entries } = await followRenamed(cluster, { entries: [entry], live }, context);
    assert.deepEqual(
      entries.map(({ object: { name, uid } }) => [name, uid]),
      [['default.mine', 'of-now']],
    );
  });

  it('is not known to be gone where this account may not look', async () => {
    const { entries, unread } = await followed(entry, [there(stored)], { refused: true });
    assert.deepEqual([entries, unread], [['default.mine of-before'], ['networkpolicies.crd.projectcalico.org']]);
  });
});
