import assert from 'node:assert/strict';
import { LEASE_NAME } from '../../src/adapters/lock/lease.ts';
import { leaseLock } from '../../src/adapters/lock/lock.ts';
import { RECORD_NAME, STATE_NAMESPACE } from '../../src/kernel/run-record.ts';
import type { AnyStage } from '../../src/kernel/stage.ts';
import { RECORD } from '../fixtures/stored-record.ts';
import { applies, commandBench, fakeStage } from '../support/command-bench.ts';
import { type MemoryCluster, memoryCluster } from '../support/memory-cluster.ts';
import { recordsIn } from '../support/state.ts';

const lockIn = ({ cluster }: MemoryCluster, identity: string) => leaseLock({ cluster, clock: { now: () => new Date() }, identity });

/** A process of its own, with state and lock in that cluster. */
function processOn(memory: MemoryCluster, identity: string, stages: readonly AnyStage[]) {
  const made = commandBench(stages);
  Object.assign(made.engine.ports, { records: recordsIn(memory.cluster), lock: lockIn(memory, identity) });
  made.answers = [true];
  return made;
}

const crds = () => fakeStage('crds', { plan: applies('a') });
const apply = () => fakeStage('apply', { plan: applies('b') });
const stateOf = ({ objects }: MemoryCluster) =>
  [...objects].filter(([name]) => name.startsWith(`${STATE_NAMESPACE}/${RECORD_NAME}`)).map(([name, { data }]) => [name, data]);

describe('a second run beside a living one', () => {
  const ways: readonly (readonly [string, (memory: MemoryCluster) => unknown])[] = [
    ['after unlock', (memory) => lockIn(memory, 'user@here').breakLock('first')],
    ['after somebody deleted the Lease', ({ objects }) => objects.delete(`${STATE_NAMESPACE}/${LEASE_NAME}`)],
    [
      'after somebody forged the Lease',
      ({ objects }) => {
        const lease = objects.get(`${STATE_NAMESPACE}/${LEASE_NAME}`) ?? assert.fail('the lock is not held');
        objects.set(`${STATE_NAMESPACE}/${LEASE_NAME}`, { ...lease, spec: {} });
      },
    ],
  ];
  const chains: readonly (readonly [string, readonly AnyStage[]])[] = [
    ['with more to do', [crds(), apply()]],
    ['with nothing but its end to note', [crds()]],
  ];
  for (const [how, free] of ways)
    for (const [when, stages] of chains)
      it(`ends the first one, ${when}, with exit 7 and without a word of the second overwritten: ${how}`, async () => {
        const memory = memoryCluster();
        const first = processOn(memory, 'first', stages);
        const { tools } = first.engine.ports;
        const { run } = tools;
        let left: unknown;
        const interrupting: typeof run = async (...asked) => {
          const result = await run(...asked);
          if (left !== undefined) return result;
          await free(memory);
          const second = processOn(memory, 'second', [crds(), apply()]);
          assert.equal(await second.run('run'), 0, second.err());
          left = stateOf(memory);
          return result;
        };
        Object.assign(tools, { run: interrupting });
        assert.equal(await first.run('run'), 7, first.err());
        assert.match(first.err(), /^error: Secret\/kube-system\/netsvc-upgrade-run\S* was changed by somebody else during this run/m);
        assert.match(first.out(), /then {4}resume: kubectl netsvc-upgrade run/);
        assert.deepEqual(stateOf(memory), left);
        assert.deepEqual(first.engine.calls.filter((call) => call.startsWith('exec')).length, 1);
      });
});

describe('state that changes while a person reads the plan', () => {
  const reading = (stage: AnyStage): AnyStage => ({
    ...stage,
    open: async (sources, context) => {
      await sources.records.load();
      return stage.open(sources, context);
    },
  });
  const run = async (change: (memory: MemoryCluster) => Promise<void>) => {
    const memory = memoryCluster();
    await recordsIn(memory.cluster).save(RECORD);
    const made = processOn(memory, 'first', [reading(fakeStage('preflight', { readOnly: true })), reading(apply())]);
    made.seams.terminal.confirm = async () => {
      await change(memory);
      return true;
    };
    return { exit: await made.run('run'), made };
  };

  it('stops the run with exit 7 before anything is changed', async () => {
    const { exit, made } = await run(({ cluster }) => recordsIn(cluster).save({ ...RECORD, backup: '/nowhere' }));
    assert.equal(exit, 7, made.err());
    assert.match(made.err(), /^error: Secret\/kube-system\/netsvc-upgrade-run was changed by somebody else during this run/m);
    assert.deepEqual(made.engine.calls, []);
  });

  it('does not where nothing changes', async () => {
    const { exit, made } = await run(async () => undefined);
    assert.equal(exit, 0, made.err());
  });
});
