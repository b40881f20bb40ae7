import assert from 'node:assert/strict';
import { lockWith } from '../../src/adapters/lock/lock.ts';
import { ledgerRecords } from '../../src/adapters/records/records.ts';
import { secretLedger } from '../../src/adapters/state/ledger.ts';
import { keptHere, seenHere } from '../../src/adapters/state/seen-here.ts';
import type { AnyStage } from '../../src/kernel/stage.ts';
import { RECORD } from '../fixtures/stored-record.ts';
import { applies, commandBench, fakeStage } from '../support/command-bench.ts';
import { memoryCluster } from '../support/memory-cluster.ts';
import { recordsIn, workIn } from '../support/state.ts';

const nowhere = workIn('/nowhere', 'x');

/** A command whose state is in Secrets; a stage reads it, as stages do. */
function bench() {
  const { cluster } = memoryCluster();
  const ledger = secretLedger(cluster);
  const reading = (stage: AnyStage): AnyStage => ({
    ...stage,
    open: async (sources, context) => {
      await sources.records.load();
      await sources.records.keptWith('/apply/');
      return stage.open(sources, context);
    },
  });
  // One that only looks reads the state once more before the lock is taken.
  const made = commandBench([
    reading(fakeStage('preflight', { readOnly: true })),
    reading(fakeStage('apply', { plan: applies('a.yaml') })),
  ]);
  const { ports } = made.engine;
  Object.assign(ports, {
    records: ledgerRecords(ledger, keptHere(nowhere), seenHere(nowhere)),
    lock: lockWith(ports.lock, ledger),
  });
  return { made, theirs: recordsIn(cluster) };
}

describe('state that changes while a person reads the plan', () => {
  for (const [what, change] of [
    ['the record', (theirs) => theirs.save({ ...RECORD, backup: '/nowhere' })],
    ['what the log keeps, of which there was nothing', (theirs) => theirs.append([{ id: 'r/alp/template-x#1', content: { map: {} } }])],
  ] as readonly (readonly [string, (theirs: ReturnType<typeof recordsIn>) => Promise<void>])[])
    it(`stops the run with exit 7 before anything is changed: ${what}`, async () => {
      const { made, theirs } = bench();
      if (what === 'the record') await theirs.save(RECORD);
      made.answers = [true];
      made.seams.terminal.confirm = async () => {
        await change(theirs);
        return true;
      };
      assert.equal(await made.run('run'), 7, made.err());
      assert.match(made.err(), /^error: Secret\/kube-system\/netsvc-upgrade-run\S* was changed by somebody else during this run/m);
      assert.deepEqual(made.engine.calls.join(), 'lock,unlock');
    });

  it('is left alone where nothing changes', async () => {
    const { made, theirs } = bench();
    await theirs.save(RECORD);
    made.answers = [true];
    assert.equal(await made.run('run'), 0, made.err());
  });
});
