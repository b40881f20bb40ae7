import assert from 'node:assert/strict';
import { storedManifests } from '../../../src/adapters/stored-bases.ts';
import { readBehindCli } from '../../../src/features/going-back/behind-cli.ts';
import { backChecks } from '../../../src/features/going-back/checks.ts';
import { readUnread } from '../../../src/features/going-back/unread.ts';
import type { Context } from '../../../src/kernel/context.ts';
import type { Installation } from '../../../src/kernel/installation.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf, installation } from '../../fixtures/facts.ts';
import { judgeAll } from '../../support/judged-worlds.ts';
import { kvstoreSources } from '../../support/kvstore-sources.ts';
import { ofRelease, type Stored, standInState } from '../../support/stand-in-cli-state.ts';

const LEFT = 'v3.32.1';
const IDS = ['NS-760', 'NS-761', 'NS-762', 'NS-763', 'NS-765'];
/** What old and new clients of the service store, by the key (cli notes 1.7). */
const plain = (...names: readonly string[]): Stored[string] =>
  Object.fromEntries(names.map((name) => [name, { spec: { selector: 'all()' } }]));

interface Case {
  readonly to?: string;
  readonly client?: string;
  readonly installed?: string;
}

/** The outcomes of the checks, and what they say. */
async function judged(objects: Stored, { to = 'v3.27.5', client = LEFT, installed = LEFT }: Case = {}) {
  const takesBack = { runId: 'r', from: to, to: LEFT, wrote: ['apply'], startedAt: '2026-01-01T00:00:00Z' };
  const context: Context = { ...contextOf({ release: to }, calico), goal: { release: to, takesBack }, intent: { kind: 'rollback' } };
  const sources = kvstoreSources(standInState({ client, etcdv3: ofRelease(LEFT, objects) }));
  const there: Installation = { ...installation, path: 'kvstore', datastore: 'kvstore', release: installed };
  const found = await readBehindCli(sources, context, there);
  const unread = await readUnread({ ...sources, stored: storedManifests('calico') }, context, there);
  const facts = { ...found, installation: there, unread, tables: { value: undefined } };
  const all = judgeAll(backChecks, facts, context).filter(({ id }) => IDS.includes(id));
  return {
    ...Object.fromEntries(all.map(({ id, outcome }) => [id, outcome])),
    said: all.flatMap(({ evidence }) => evidence.map(({ text, detail }) => `${text}: ${detail}`)),
    messages: all.map(({ message }) => message),
    next: all.flatMap(({ next }) => next?.plain ?? []),
  };
}

const OK = Object.fromEntries(IDS.map((id) => [id, 'ok']));

describe('what a key-value store holds that the old release cannot read', () => {
  it('is nothing where every policy is stored as the old release stores them', async () => {
    const found = await judged({
      GlobalNetworkPolicy: plain('default.web', 'knp.default.x', 'ossg.default.y'),
      NetworkPolicy: plain('shop/default.web', 'bank/default.web'),
      IPPool: { usual: { spec: { cidr: '10.0.0.0/16' } } },
    });
    assert.deepEqual(found, { ...OK, said: [], messages: found.messages, next: [] });
  });

  it('are policies that the new controllers, or the new CLI, stored under their own names', async () => {
    const found = await judged({
      GlobalNetworkPolicy: plain('web', 'default.db'),
      NetworkPolicy: plain('shop/web', 'bank/default.web'),
    });
    assert.deepEqual(
      { ...found, messages: [] },
      {
        ...OK,
        'NS-762': 'error',
        said: ['GlobalNetworkPolicy/web: it is not stored as default.web', 'NetworkPolicy/shop/web: it is not stored as default.web'],
        messages: [],
        next: ['calicoctl get globalnetworkpolicies -o yaml'],
      },
    );
  });

  it('is a policy that is stored twice', async () => {
    const found = await judged({ GlobalNetworkPolicy: plain('web', 'default.web') });
    assert.equal(found['NS-763' as keyof typeof found], 'error');
    assert.deepEqual(found.said, ['GlobalNetworkPolicy/web: stored twice, and v3.27.5 finds default.web alone']);
  });

  it('are policies in other tiers, and pools of addresses for services', async () => {
    const tiered = { 'sec.web': { spec: { tier: 'sec' } }, web: { spec: { tier: 'sec' } } };
    const IPPool = { lb: { spec: { cidr: '10.9.0.0/24', allowedUses: ['LoadBalancer'] } } };
    const old = await judged({ GlobalNetworkPolicy: tiered, IPPool });
    assert.deepEqual(old.said, [
      'GlobalNetworkPolicy/sec.web: tier sec',
      'GlobalNetworkPolicy/web: tier sec',
      'IPPool/lb: 10.9.0.0/24: its blocks are not shown',
    ]);
    const tiers = await judged({ GlobalNetworkPolicy: tiered, IPPool }, { to: 'v3.30.7' });
    assert.deepEqual(tiers.said.length, 1, 'agents from v3.29 on read the tier in the name');
    assert.match(tiers.said[0] ?? '', /^GlobalNetworkPolicy\/web: it is in tier sec/);
  });

  it('is a field or a kind that the old release does not define, as the new CLI shows it', async () => {
    const found = await judged(
      {
        GlobalNetworkPolicy: {
          'default.web': { spec: { selector: 'all()', ingress: [{ action: 'Deny', destination: { services: {} } }] } },
        },
        IPPool: { late: { spec: { cidr: '10.0.0.0/16', namespaceSelector: 'all()', assignmentMode: 'Automatic' } } },
        BGPFilter: { out: { spec: { exportV4: [] } } },
      },
      { to: 'v3.20.6' },
    );
    assert.deepEqual(found.said, ['BGPFilter/out: v3.20.6 has no such kind', 'IPPool/late: namespaceSelector']);
    assert.deepEqual([found['NS-765' as keyof typeof found], found.next], ['error', ['calicoctl get bgpfilter -o yaml']]);
  });

  it('is not known where the CLI of the release that is left is not there: no check passes', async () => {
    const found = await judged({}, { client: 'v3.27.5' });
    for (const message of found.messages) assert.match(message, /could not be checked: no calicoctl of v3\.32\.1 was found/);
    assert.deepEqual(
      IDS.map((id) => found[id as keyof typeof found]),
      IDS.map(() => 'error'),
    );
  });

  it('is not asked any more once the agents are old', async () => {
    const found = await judged({ GlobalNetworkPolicy: plain('web') }, { client: 'v3.27.5', installed: 'v3.27.5' });
    assert.deepEqual(
      IDS.map((id) => found[id as keyof typeof found]),
      IDS.map(() => 'not-applicable'),
    );
  });
});
