import { type Command, command } from './command.ts';
import type { PodName } from './run-record.ts';
import { type Step, seeWhy } from './step.ts';

/** The command that shows why: the log of the container that is named, or the events of the pod. */
export function podCommand({ namespace, name, log }: PodName): Command {
  if (log === undefined) return command`kubectl -n ${namespace} describe pod ${name}`;
  const part = log.of === 'former' ? '--previous' : '--tail=50';
  return command`kubectl -n ${namespace} logs ${name} -c ${log.container} ${part}`;
}

export const seePod = (pod: PodName): Step => seeWhy(podCommand(pod));
