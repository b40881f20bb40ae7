import { repairCommand } from '../../kernel/command.ts';
import { eachOf } from '../../kernel/each-of.ts';
import type { Around, EnginePorts } from '../../kernel/effect-type.ts';
import { messageOf } from '../../kernel/fault.ts';
import { K } from '../../kernel/kinds.ts';
import type { ObjectRef } from '../../kernel/object.ts';
import { ApiFailure } from '../../kernel/ports.ts';
import { text } from '../../kernel/step.ts';

/** Requests in flight: after Ctrl-C there are seconds for all of them. */
const WIDTH = 16;

/** These very Jobs by their UID: others may have the label. What is not deleted here the cluster deletes itself, some minutes later. */
export async function sweep(
  { cluster }: Pick<EnginePorts, 'cluster'>,
  jobs: readonly ObjectRef[],
  { warn }: Pick<Around, 'warn'>,
  what = 'network probe',
): Promise<void> {
  const ends = await eachOf(jobs, WIDTH, (job) =>
    cluster.remove(K.Job, job).then(
      () => [],
      (thrown: unknown) => (isGone(thrown) ? [] : [{ job, because: messageOf(thrown) }]),
    ),
  );
  const [first, ...others] = ends.flat();
  if (!first) return;
  const names = [first, ...others].map(({ job }) => job.name);
  const by = repairCommand`kubectl delete jobs -n ${first.job.namespace} ${names}`;
  warn(text`Jobs of the ${what} could not be deleted (${first.because}); the cluster deletes them itself, or you: ${by}`);
}

const isGone = (thrown: unknown): boolean => thrown instanceof ApiFailure && thrown.status === 404;
