import assert from 'node:assert/strict';
import { strategyLines } from '../../src/cli/agents-strategy.ts';
import type { StatusDocument } from '../../src/cli/documents.ts';

describe('what status says of a pace that somebody has set over that of a run', () => {
  const strategy = {
    object: { apiVersion: 'operator.tigera.io/v1', kind: 'Installation', name: 'default' },
    is: 'maxUnavailable 5',
    held: false,
    overridden: true,
  };
  const said = (lock: object | null) =>
    strategyLines({ strategy, lock, record: null } as StatusDocument, [])
      .map(String)
      .join();
  const stays = 'maxUnavailable 5 in Installation/default: somebody has set it over that of this run, so it stays';

  it('names the next run, unless one is at work', () => {
    assert.equal(said({}), stays);
    assert.ok(said(null).startsWith(`${stays}. The annotation goes with the next run: `), said(null));
  });
});
