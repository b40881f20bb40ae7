import { type Command, command } from './command.ts';
import type { PodName } from './run-record.ts';
import { Step, seeWhy, text } from './step.ts';

/** The command that shows why: the log of the container that is named, or the events of the pod. */
export function podCommand({ namespace, name, log }: PodName): Command {
  if (log === undefined) return command`kubectl -n ${namespace} describe pod ${name}`;
  const part = log.of === 'former' ? '--previous' : '--tail=50';
  return command`kubectl -n ${namespace} logs ${name} -c ${log.container} ${part}`;
}

/** The command that shows what runs on a node. */
export const nodeCommand = (node: string): Command => command`kubectl get pods -A -o wide --field-selector ${`spec.nodeName=${node}`}`;

export const seeNode = (node: string): Step => new Step('look', text`${nodeCommand(node)}`, { node });

export const seePod = (pod: PodName): Step => seeWhy(podCommand(pod));
