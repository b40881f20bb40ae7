import assert from 'node:assert/strict';
import { usualChain } from '../../src/features/chain.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { RECORD_NAME, type RunRecord } from '../../src/kernel/run-record.ts';
import { parseRecordV1 } from '../fixtures/record-reader-v1.ts';
import { installedSandbox, performIn, sandboxPorts } from '../support/sandbox-ports.ts';
import { recordsIn } from '../support/state.ts';

const contentOf = (secret: KubeObject | undefined) =>
  String((secret?.data as Readonly<Record<string, unknown>> | undefined)?.['record.json']);

describe('a program that knows version 1 of the record alone', () => {
  it('refuses the run that this one has begun, and changes nothing', async () => {
    const scenario = await installedSandbox({ cli: false });
    const { cluster } = scenario;
    const part = usualChain.slice(0, usualChain.findIndex(({ id }) => id === 'apply') + 1);
    const first = await performIn(scenario, part, {}, { ports: { ...sandboxPorts(scenario), records: recordsIn(cluster) } });
    assert.deepEqual([first.exit, first.record?.version], ['done', 2]);
    const stored = () => contentOf(cluster.store.get(K.Secret, RECORD_NAME, 'kube-system'));
    const before = stored();
    const written: string[] = [];
    cluster.store.listen(({ kind }) => written.push(kind.plural));
    const load = async () => parseRecordV1(Buffer.from(stored(), 'base64').toString(), `Secret/kube-system/${RECORD_NAME}`);
    const old = { ...recordsIn(cluster), load: load as unknown as () => Promise<RunRecord> };
    for (const stages of [usualChain, usualChain.filter(({ id }) => id === 'apply')]) {
      const { exit, message, findings, writes } = await performIn(
        scenario,
        stages,
        {},
        { ports: { ...sandboxPorts(scenario), records: old } },
      );
      assert.ok(exit === 'failed' || exit === 'blocked', exit);
      assert.match([message, ...findings.map((one) => one.message)].join('\n'), /has version 2; this program knows 1/);
      assert.equal(writes, 0);
    }
    assert.deepEqual(
      written.filter((one) => one !== 'leases'),
      [],
    );
    assert.equal(stored(), before);
  });
});
