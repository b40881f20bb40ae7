import assert from 'node:assert/strict';
import { usualChain } from '../../src/features/chain.ts';
import { K } from '../../src/kernel/kinds.ts';
import { RECORD_NAME } from '../../src/kernel/run-record.ts';
import { installedSandbox, performIn, sandboxPorts } from '../support/sandbox-ports.ts';
import { recordsIn } from '../support/state.ts';

describe('a run that a newer program has begun', () => {
  it('is refused, and nothing changes', async () => {
    const scenario = await installedSandbox({ cli: false });
    const { store } = scenario.cluster;
    const part = usualChain.slice(0, usualChain.findIndex(({ id }) => id === 'apply') + 1);
    const again = (stages: typeof usualChain) =>
      performIn(scenario, stages, {}, { ports: { ...sandboxPorts(scenario), records: recordsIn(scenario.cluster) } });
    assert.equal((await again(part)).exit, 'done');
    const secret = store.get(K.Secret, RECORD_NAME, 'kube-system') ?? assert.fail();
    const { 'record.json': record = '', ...rest } = secret.data as Readonly<Record<string, string>>;
    const newer = JSON.stringify({ ...JSON.parse(Buffer.from(record, 'base64').toString()), version: 3 });
    store.update(K.Secret, { ...secret, data: { ...rest, 'record.json': Buffer.from(newer).toString('base64') } });
    const written: string[] = [];
    store.listen(({ kind }) => written.push(kind.plural));
    for (const stages of [usualChain, usualChain.filter(({ id }) => id === 'apply')]) {
      const { exit, message, findings, writes } = await again(stages);
      assert.ok(exit === 'failed' || exit === 'blocked', exit);
      assert.match([message, ...findings.map((one) => one.message)].join('\n'), /has version 3; this program knows 2/);
      assert.equal(writes, 0);
    }
    assert.deepEqual(new Set(written.filter((one) => one !== 'leases')), new Set());
  });
});
