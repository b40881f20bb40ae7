import type { Action, Expectation } from '../../kernel/action.ts';
import type { Options } from '../../kernel/context.ts';
import type { RolloutTarget } from '../../kernel/rollout.ts';
import type { AgentsOf } from './agents.ts';

/** The agents of a manifest: their new image is known. */
export function agentsOfTarget({ namespace, name, container, ready, image }: RolloutTarget): AgentsOf {
  return { namespace, name, container, ready, runs: { image } };
}

/** While agents are replaced: `first` waits for one that is upgraded and ready, then the probe is made. Nothing unless it was asked for. */
export function probeBetween(agents: AgentsOf, first: Expectation, options: Options, timeoutMs: number): readonly Action[] {
  if (!options.probeNetwork) return [];
  const title = `wait for the first upgraded pod of DaemonSet/${agents.name}`;
  return [
    { id: 'first-agent', title, ref: '§4.4/3', undo: 'full', effect: { type: 'wait', until: first, timeoutMs } },
    ...networkProbe('probe-between', 'on an upgraded and an old node', agents, options),
  ];
}

/** Once all agents are upgraded. Nothing unless it was asked for. */
export function probeAtEnd(agents: AgentsOf, options: Options): readonly Action[] {
  return networkProbe('probe-end', 'on two upgraded nodes', agents, options);
}

function networkProbe(id: string, where: string, agents: AgentsOf, { probeNetwork }: Options): readonly Action[] {
  if (!probeNetwork) return [];
  const { image, namespace } = probeNetwork;
  const title = `probe the pod network: short Jobs in namespace ${namespace} ${where}, 4 at a time, removed afterwards`;
  return [{ id, title, ref: '§4.4/3', undo: 'full', effect: { type: 'probe-network', image, namespace, agents } }];
}
