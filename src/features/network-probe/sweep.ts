import { repairCommand } from '../../kernel/command.ts';
import type { Around, EnginePorts } from '../../kernel/effect-type.ts';
import { messageOf } from '../../kernel/fault.ts';
import { K } from '../../kernel/kinds.ts';
import type { ObjectRef } from '../../kernel/object.ts';
import { ApiFailure } from '../../kernel/ports.ts';
import { text } from '../../kernel/step.ts';

/** These very Jobs by their UID: others may have the label. What is not deleted here the cluster deletes itself, some minutes later. */
export async function sweep(
  { cluster }: Pick<EnginePorts, 'cluster'>,
  jobs: readonly ObjectRef[],
  { warn }: Pick<Around, 'warn'>,
): Promise<void> {
  try {
    for (const job of jobs) await cluster.remove(K.Job, job).catch(unlessGone);
  } catch (thrown) {
    const by = repairCommand`kubectl delete jobs -n ${jobs[0]?.namespace} ${jobs.map(({ name }) => name)}`;
    warn(text`Jobs of the network probe could not be deleted (${messageOf(thrown)}); the cluster deletes them itself, or you: ${by}`);
  }
}

function unlessGone(thrown: unknown): void {
  if (!(thrown instanceof ApiFailure && thrown.status === 404)) throw thrown;
}
