import assert from 'node:assert/strict';
import { parseRecord } from '../../src/adapters/records/parse-record.ts';
import { oursWith } from '../../src/cli/carried.ts';
import { CHAINS } from '../../src/cli/command-names.ts';
import { intentOf } from '../../src/cli/compose.ts';
import { recordedRelease } from '../../src/cli/recorded-flags.ts';
import { refusalNow } from '../../src/cli/refusal-now.ts';
import { goalBack } from '../../src/cli/rollback-goal.ts';
import { Fault } from '../../src/kernel/fault.ts';
import type { KeptItem, RunRecord } from '../../src/kernel/run-record.ts';
import { NO_RETURNS } from '../../src/kernel/undo.ts';
import { CARRIED_PART, type CarriedEdits } from '../../src/manifest/carried-file.ts';
import { calico } from '../../src/profiles/calico.ts';
import { RECORD, upgradeTo } from '../fixtures/stored-record.ts';
import { commandBench, fakeStage } from '../support/command-bench.ts';
import { CLUSTER_UID } from '../support/engine-ports.ts';

const EDITS = `r-1${CARRIED_PART}1`;
const CARRIED: CarriedEdits = {
  ...{ target: 'v3.32.1', base: 'v3.27.5', resolutions: {}, edits: [], files: {} },
  former: { release: 'v3.27.5', changed: [], removed: [], added: [] },
};
const here = { clusterUid: 'c-1', profile: calico };
const UPGRADE: RunRecord = {
  ...{ ...RECORD, runId: 'r-1', clusterUid: 'c-1', profile: 'calico', path: 'manifest', variant: 'calico' },
  ...{ intent: upgradeTo('v3.32.1', 'v3.27.5'), wrote: ['apply'], kept: [EDITS] },
};

interface Stored {
  readonly record?: RunRecord;
  readonly kept?: readonly KeptItem[];
}

function goalOf({ record, kept = [] }: Stored, load = async () => record) {
  const all = [{ id: EDITS, content: CARRIED }, ...kept];
  const keptWith = async (part: string) => all.filter(({ id }) => id.includes(part));
  const content = async (id: string) => all.findLast((one) => one.id === id)?.content;
  return goalBack({ load, keptWith, kept: content }, { ...here, readRecord: (read) => read as RunRecord });
}

describe('why a rollback would be refused now', () => {
  const asked = (load: () => Promise<RunRecord | undefined>) =>
    refusalNow({ load, keptWith: async () => [], kept: async () => undefined }, UPGRADE);

  it('is not said by who is not logged in any more', async () =>
    assert.equal(await asked(() => Promise.reject(new Fault('failed', 'credential plugin aws failed', ['log in']))), undefined));

  it('is said where nothing of the user’s was kept', async () =>
    assert.match((await asked(async () => UPGRADE)) ?? '', /what the upgrade kept of your changes is gone/));
});

describe('why a rollback of a chart release would be refused now', () => {
  const chart: RunRecord = { ...UPGRADE, path: 'chart', intent: upgradeTo('v3.32.1', 'v3.31.7') };
  const asked = (former: () => Promise<string | undefined>) =>
    refusalNow({ load: async () => chart, keptWith: async () => [], kept: async () => undefined }, chart, former);

  it('is what helm keeps of the release before', async () => {
    assert.equal(await asked(async () => 'no revision is left'), 'no revision is left');
    assert.equal(await asked(async () => undefined), undefined);
  });

  it('is not said by who is not logged in any more', async () =>
    assert.equal(await asked(() => Promise.reject(new Fault('failed', 'credential plugin aws failed', ['log in']))), undefined));
});

describe('what a command is for that continues whatever is unfinished', () => {
  const asked = (record: RunRecord | undefined, flags: object = {}) =>
    intentOf({ chain: CHAINS.commit, flags }, { load: async () => record }, 'c-1').then(({ kind, to }) => [kind, to]);
  const open: RunRecord = { ...UPGRADE, intent: upgradeTo('v3.31.7', 'v3.27.5') };

  it('is what the recorded run is for, and goes where that goes', async () => {
    assert.deepEqual(await asked(open), ['upgrade', 'v3.31.7']);
    assert.deepEqual(await asked({ ...open, intent: { kind: 'rollback', to: 'v3.27.5' } }), ['rollback', 'v3.27.5']);
  });

  it('is an upgrade to what was typed, or to the newest, where none is unfinished or another was typed', async () => {
    const none = ['upgrade', undefined];
    assert.deepEqual(await asked(open, { release: 'v3.32.1' }), none);
    assert.deepEqual(await asked({ ...open, finishedAt: '2026-01-01T00:00:00Z' }), none);
    assert.deepEqual(await asked(undefined), none);
  });
});

describe('the release of a run that is continued', () => {
  const usual = 'v3.32.1';

  it('is given to the next command, which would mean the usual one', () => {
    const flags = recordedRelease({}, { kind: 'upgrade', to: 'v3.31.7' }, usual);
    assert.deepEqual(flags, [{ name: 'release', word: '--release=v3.31.7', fromRecord: true }]);
    assert.equal(String(oursWith('verify', flags)), 'kubectl netsvc-upgrade verify --release=v3.31.7');
  });

  it('needs no flag where it is the usual one or was typed, nothing is continued, or a rollback is', () => {
    const intents = [
      recordedRelease({}, { kind: 'upgrade', to: usual }, usual),
      recordedRelease({ release: 'v3.31.7' }, { kind: 'upgrade', to: 'v3.31.7' }, usual),
      recordedRelease({}, { kind: 'upgrade' }, usual),
      recordedRelease({}, { kind: 'rollback', to: 'v3.27.5' }, usual),
    ];
    assert.deepEqual(intents, [[], [], [], []]);
  });
});

describe('status of a rollback that failed', () => {
  it('leads to a plan of it', async () => {
    const bench = commandBench([fakeStage('apply')]);
    const failed = { id: 'apply', state: 'failed', startedAt: '2026-01-01T00:00:00Z' } as const;
    const intent = { kind: 'rollback', to: 'v3.27.5' } as const;
    bench.engine.stored = { ...RECORD, clusterUid: CLUSTER_UID, intent, stages: [failed] };
    assert.equal(await bench.run('status'), 0);
    assert.match(bench.out(), /^Next: kubectl netsvc-upgrade plan --rollback$/m);
  });
});

describe('status of an upgrade that has stopped', () => {
  const undoOf = async (record: Partial<RunRecord>) => {
    const bench = commandBench([{ ...fakeStage('apply'), reaches: 'workloads' }]);
    bench.engine.stored = { ...UPGRADE, clusterUid: CLUSTER_UID, ...record };
    assert.equal(await bench.run('status'), 0);
    return /^undo: .*$/m.exec(bench.out())?.[0] ?? '';
  };

  it('offers no rollback that would refuse: nothing kept, though it went forward from one that was begun', async () => {
    assert.match(await undoOf({ runId: 'r-3', resumes: 'r-1', kept: [] }), /only as a manual step, rollback refuses: .* did not keep/);
  });

  it('offers none where what was kept is gone', async () => {
    assert.match(await undoOf({ kept: [EDITS] }), /only as a manual step, rollback refuses: .* is gone from the cluster/);
  });

  it('offers none where no older release is known', async () => {
    assert.match(
      await undoOf({ intent: upgradeTo('v3.32.1', 'v3.32.1') }),
      /rollback refuses: .* an older release to go back to is not known/,
    );
  });
});

describe('where a rollback goes', () => {
  it('is to the release that the recorded upgrade came from', async () => {
    const { release, takesBack } = await goalOf({ record: UPGRADE });
    assert.deepEqual([release, takesBack?.to, takesBack?.wrote], ['v3.27.5', 'v3.32.1', ['apply']]);
  });

  it('is what the unfinished rollback says, whatever is true now', async () => {
    const takesBack = { runId: 'r-1', from: 'v3.27.5', to: 'v3.32.1', wrote: ['apply'], startedAt: '2026-01-01T00:00:00Z' };
    const record: RunRecord = { ...UPGRADE, runId: 'r-2', intent: { kind: 'rollback', to: 'v3.27.5', takesBack } };
    assert.deepEqual(await goalOf({ record }), { release: 'v3.27.5', takesBack });
  });

  it('is found beside a stage that was performed alone since', async () => {
    const alone: RunRecord = { ...UPGRADE, runId: 'r-2', intent: upgradeTo('v3.32.1', 'v3.32.1'), wrote: ['cli'] };
    const { release, takesBack } = await goalOf({ record: alone, kept: [{ id: 'r-1/record', content: UPGRADE }] });
    assert.deepEqual([release, takesBack?.runId, takesBack?.wrote], ['v3.27.5', 'r-1', ['cli', 'apply']]);
  });

  const lost = `r-1${CARRIED_PART}2`;
  const refused: readonly [string, Stored, RegExp][] = [
    ['no record', {}, /no upgrade is recorded on this cluster/],
    ['a record of another cluster', { record: { ...UPGRADE, clusterUid: 'c-2' } }, /the run record is of another cluster/],
    ['a record of another profile', { record: { ...UPGRADE, profile: 'netsvc' } }, /is one of profile netsvc/],
    ['an upgrade that has written nothing', { record: { ...UPGRADE, wrote: [] } }, /has written nothing: there is nothing to take back/],
    [
      'an upgrade of which the beginning is not known',
      { record: { ...UPGRADE, intent: upgradeTo('v3.32.1', undefined) } },
      /an older release to go back to is not known/,
    ],
    [
      'an operator that does not run on the new CRDs',
      { record: { ...UPGRADE, path: 'operator' } },
      new RegExp(NO_RETURNS.operator.long.slice(0, 40)),
    ],
    [
      'an upgrade that kept nothing of what was the user’s',
      { record: { ...UPGRADE, kept: [] } },
      /did not keep what v3\.27\.5 had of yours: it was given a finished file \(--upgrade-file\)/,
    ],
    [
      'changes that are kept as differences to another release (--base)',
      { record: UPGRADE, kept: [{ id: EDITS, content: { ...CARRIED, former: { ...CARRIED.former, release: 'v3.27.0' } } }] },
      /kept as differences to v3\.27\.0, and this rollback goes to v3\.27\.5/,
    ],
    [
      'an upgrade that went forward from a rollback with a finished file, where none before it came to the manifest',
      { record: { ...UPGRADE, runId: 'r-3', resumes: 'r-1', kept: [] } },
      /did not keep what v3\.27\.5 had of yours/,
    ],
    [
      'a ledger that has lost what the upgrade kept of the edits',
      { record: { ...UPGRADE, kept: [lost] } },
      /what the upgrade kept of your changes is gone/,
    ],
  ];
  for (const [title, stored, words] of refused)
    it(`is refused for ${title}`, async () => {
      await assert.rejects(
        goalOf(stored),
        (thrown) => thrown instanceof Fault && thrown.code === 'blocked' && words.test(thrown.message) && thrown.steps.length > 0,
      );
    });

  it('is what was kept, where all of it is there', async () => {
    const { release } = await goalOf({ record: { ...UPGRADE, kept: [lost] }, kept: [{ id: lost, content: CARRIED }] });
    assert.equal(release, 'v3.27.5');
  });

  it('is not looked for in a record of a newer program', async () => {
    const text = JSON.stringify({ ...UPGRADE, version: 99 });
    await assert.rejects(
      goalOf({}, async () => parseRecord(text, 'Secret/kube-system/netsvc-upgrade-run')),
      /has version 99; this program knows/,
    );
  });
});
