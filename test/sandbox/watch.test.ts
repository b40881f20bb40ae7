import assert from 'node:assert/strict';
import { K } from '../../src/kernel/kinds.ts';
import { type KubeObject, refOf } from '../../src/kernel/object.ts';
import type { WatchUpdate } from '../../src/kernel/ports.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import { virtualClock } from '../../src/sandbox/clock.ts';
import { type SandboxCluster, sandboxCluster } from '../../src/sandbox/sandbox-cluster.ts';

const map = (name: string, labels: Readonly<Record<string, string>> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', labels },
});

describe('a watch of the sandbox', () => {
  let cluster: SandboxCluster;
  beforeEach(async () => {
    cluster = sandboxCluster({ profile: netsvc, clock: virtualClock() });
    await cluster.create(K.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } });
  });

  /** Does one step after every update; what was told in all. */
  async function told(labelSelector: string, steps: readonly (() => unknown)[]): Promise<readonly string[]> {
    const [lines, end]: [string[], AbortController] = [[], new AbortController()];
    let step = 0;
    for await (const update of cluster.watch(K.ConfigMap, { labelSelector, signal: end.signal })) {
      lines.push(textOf(update));
      await steps[step]?.();
      step += 1;
      if (step >= steps.length) end.abort();
    }
    return lines;
  }

  it('tells an object as deleted once its labels no longer match', async () => {
    const live = await cluster.create(K.ConfigMap, map('labelled', { a: 'b' }));
    await cluster.create(K.ConfigMap, map('other'));
    const relabel = () => cluster.patch(K.ConfigMap, refOf(live), [{ op: 'remove', path: '/metadata/labels/a' }], 'somebody');
    assert.deepEqual(await told('a=b', [relabel, () => undefined]), ['snapshot labelled', 'deleted labelled']);
  });

  it('ends at once if its signal had aborted before', async () => {
    for await (const update of cluster.watch(K.ConfigMap, { signal: AbortSignal.abort() })) assert.fail(textOf(update));
  });
});

function textOf(update: WatchUpdate): string {
  const objects = update.type === 'snapshot' ? update.items : [update.object];
  return `${update.type} ${objects.map(({ metadata }) => metadata.name).join()}`;
}
