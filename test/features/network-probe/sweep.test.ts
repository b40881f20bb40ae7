import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { sweep } from '../../../src/features/network-probe/sweep.ts';
import type { EnginePorts } from '../../../src/kernel/effect-type.ts';
import type { ObjectRef } from '../../../src/kernel/object.ts';
import { ApiFailure } from '../../../src/kernel/ports.ts';

const jobs = Array.from({ length: 50 }, (_, index): ObjectRef => {
  return { apiVersion: 'batch/v1', kind: 'Job', namespace: 'probe', name: `job-${index}`, uid: `uid-${index}` };
});

async function swept(answer: (job: ObjectRef) => void) {
  const [removed, warned]: [string[], string[]] = [[], []];
  let [inFlight, most] = [0, 0];
  const remove = async (_: unknown, job: ObjectRef) => {
    inFlight += 1;
    most = Math.max(most, inFlight);
    await wait(1);
    inFlight -= 1;
    answer(job);
    removed.push(job.uid ?? '');
  };
  const cluster = { remove } as unknown as EnginePorts['cluster'];
  await sweep({ cluster }, jobs, { warn: (text) => void warned.push(typeof text === 'string' ? text : text.plain) });
  return { removed, warned, most };
}

describe('the Jobs of a probe', () => {
  it('are deleted by their UID, many at a time: after Ctrl-C there are seconds for all of them', async () => {
    const { removed, warned, most } = await swept(() => undefined);
    assert.deepEqual([removed.length, warned], [jobs.length, []]);
    assert.ok(most >= 10, `${most} at a time`);
  });

  it('that cannot be deleted do not keep the others: they are named, and those that are gone already are none', async () => {
    const { removed, warned } = await swept(({ name }) => {
      if (name === 'job-3') throw new ApiFailure(404, 'NotFound', 'gone');
      if (name === 'job-0' || name === 'job-7') throw new ApiFailure(403, 'Forbidden', 'not allowed');
    });
    assert.equal(removed.length, jobs.length - 3);
    assert.match(
      warned.join('\n'),
      /^Jobs of the network probe could not be deleted \(not allowed\)\S* .*kubectl delete jobs -n probe job-0 job-7$/,
    );
  });
});
