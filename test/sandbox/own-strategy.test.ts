import assert from 'node:assert/strict';
import { held, ownStrategyOf, readOwnStrategies, withoutOwn } from '../../src/features/canary/index.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { refOf } from '../../src/kernel/object.ts';
import type { KeptItem, RunRecord } from '../../src/kernel/run-record.ts';
import { object } from '../fixtures/facts.ts';

const rolling = (maxUnavailable: number) => ({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable } });
const HELD = { type: 'OnDelete' };
const agents = (updateStrategy: unknown): KubeObject => object('apps/v1', 'DaemonSet/kube-system/node', { spec: { updateStrategy } });
const live = held(agents(rolling(1)), { release: 'v3.32.1' });

const kept = (id: string, before: unknown, after: unknown): KeptItem => ({
  id,
  content: {
    changes: [{ ref: refOf(live), before: { '/spec/updateStrategy': before }, after: { '/spec/updateStrategy': after } }],
  },
});

describe('the strategy that the user of a held DaemonSet had', () => {
  const here = { clusterUid: 'here' };
  const record = { clusterUid: 'here' } as RunRecord;
  const of = async (...items: readonly KeptItem[]) => {
    const own = await readOwnStrategies({ keptWith: async () => items }, record, here, [live]);
    const { spec } = withoutOwn(live, own, agents(rolling(9)));
    return [(spec as { readonly updateStrategy?: unknown }).updateStrategy, ownStrategyOf(live, own) !== undefined];
  };

  it('is what was there before the first of ours', async () => {
    assert.deepEqual(await of(kept('1/apply/1', rolling(2), HELD)), [rolling(2), true]);
    assert.deepEqual(
      await of(kept('1/apply/1', rolling(2), HELD), kept('1/apply/2', HELD, rolling(5)), kept('2/apply/1', rolling(5), HELD)),
      [rolling(2), true],
    );
  });

  it('is what the user set since, where an earlier run did not put its own back', async () =>
    assert.deepEqual(await of(kept('1/apply/1', rolling(2), HELD), kept('2/apply/1', rolling(3), HELD)), [rolling(3), true]));
});
