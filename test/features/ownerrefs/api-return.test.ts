import assert from 'node:assert/strict';
import { readOwnersJudged } from '../../../src/features/ownerrefs/references.ts';
import type { InstallPath } from '../../../src/kernel/installation.ts';
import type { ClusterReader, Sources } from '../../../src/kernel/ports.ts';
import type { RunRecord } from '../../../src/kernel/run-record.ts';
import { contextOf, installation } from '../../fixtures/facts.ts';
import { upgradeTo } from '../../fixtures/stored-record.ts';
import { runRecord } from '../../support/apply-bench.ts';
import { clusterOf } from '../../support/cluster-of.ts';

const context = contextOf({ release: 'v3.31.7' });
const API = 'projectcalico.org';

/** A search while the v3 API is away, until it has been asked for so often; what came of it, and the seconds that it took. */
async function searched(awayFor: number, wrote: readonly string[], path: InstallPath = 'manifest') {
  let asked = 0;
  let seconds = 0;
  const discover: ClusterReader['discover'] = async () => ({ kinds: [], failed: asked++ < awayFor ? [API] : [] });
  const { clusterUid, goal } = context;
  const record: RunRecord = runRecord({ clusterUid, intent: upgradeTo(goal.release, 'v3.26.4'), oldest: 'v3.26.4', path, wrote });
  const sources = {
    cluster: { ...clusterOf([]).cluster, discover },
    clock: {
      now: () => new Date(seconds * 1000),
      sleep: async (ms: number) => {
        seconds += ms / 1000;
      },
    },
    records: { load: async () => record },
    journal: { load: async () => undefined },
  };
  const judged = await readOwnersJudged(sources as unknown as Sources, context, { ...installation, path });
  return { unread: judged.references?.unread.map(({ kind }) => kind), apiReplaced: judged.apiReplaced, seconds };
}

describe('a search while the v3 API is away', () => {
  it('waits for the API server that this run has replaced', async () => {
    assert.deepEqual(await searched(3, ['apply']), { unread: [], apiReplaced: undefined, seconds: 2 });
  });

  it('waits for a minute at most, and says what could not be searched', async () => {
    assert.deepEqual(await searched(Number.POSITIVE_INFINITY, ['apply']), { unread: [API], apiReplaced: true, seconds: 60 });
  });

  it('does not wait before the run has applied anything', async () => {
    assert.deepEqual(await searched(3, ['backup']), { unread: [API], apiReplaced: undefined, seconds: 0 });
  });

  it('does not wait where an operator replaces it: the run goes on to its end', async () => {
    assert.deepEqual(await searched(3, ['apply'], 'operator'), { unread: [API], apiReplaced: true, seconds: 0 });
  });
});
