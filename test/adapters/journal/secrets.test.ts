import assert from 'node:assert/strict';
import { journalStore } from '../../../src/adapters/journal/journal.ts';
import { journalSecrets } from '../../../src/adapters/journal/secrets.ts';
import { secretLedger } from '../../../src/adapters/state/ledger.ts';
import { ownerEntries } from '../../../src/features/ownerrefs/journal-form.ts';
import { ApiFailure, type Cluster, type ListOptions } from '../../../src/kernel/ports.ts';

describe('the journal in Secrets, for a command that only looks', () => {
  /** A cluster with such a part of a journal in each namespace; lists of the whole of it may be refused. */
  function looking(namespaces: readonly string[], mayListAll: boolean) {
    const asked: string[] = [];
    const part = (namespace: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'netsvc-upgrade-owners', namespace } });
    const cluster = {
      get: async () => void asked.push('head'),
      list: async (_: unknown, { namespace }: ListOptions) => {
        asked.push(namespace ?? 'everywhere');
        if (namespace === undefined && !mayListAll) throw new ApiFailure(403, 'Forbidden', 'no');
        return namespaces.filter((one) => namespace === undefined || one === namespace).map(part);
      },
    } as unknown as Cluster;
    const place = journalSecrets(secretLedger(cluster, 'kube-system'), 'kube-system', true);
    const journal = journalStore({
      place,
      form: async () => ownerEntries,
      clusterUid: 'u',
      profile: 'calico',
      runId: 'r',
      namesFirst: true,
    });
    return { asked, journal };
  }

  it('asks one list for what is here and what is elsewhere', async () => {
    const { asked, journal } = looking(['b', 'a', 'b'], true);
    assert.equal(await journal.load(), undefined);
    assert.deepEqual(await journal.elsewhere(), ['a', 'b']);
    assert.deepEqual(asked, ['everywhere']);
  });

  it('asks for its namespace alone where the whole cluster is refused, and does not say that there is nothing elsewhere', async () => {
    const { asked, journal } = looking(['a'], false);
    assert.equal(await journal.load(), undefined);
    assert.equal(await journal.elsewhere(), undefined);
    assert.deepEqual(asked, ['everywhere', 'kube-system']);
  });

  it('reads the head where there is a part', async () => {
    const { asked, journal } = looking(['kube-system'], true);
    await assert.rejects(journal.load(), /head .* is gone/);
    assert.deepEqual(asked, ['everywhere', 'head', 'everywhere']);
  });
});
