import { filesOf, kwokArguments, type Layout } from './components.ts';
import type { Processes, Running } from './processes.ts';
import { type NodeFault, numberOf, selectorOf, writeStages } from './stages.ts';

export interface SimulationOptions {
  readonly layout: Layout;
  readonly processes: Processes;
  /** The kwok program. */
  readonly program: string;
  readonly readyAfterMs: number;
}

/**
 * Starts simulations when they are first needed: one kwok process per kind of fault, which owns the nodes with that label.
 * So the node's label alone decides what happens to its pods, for any API server version.
 */
export function simulations(options: SimulationOptions): (fault: NodeFault) => Promise<Running> {
  const started = new Map<NodeFault, Promise<Running>>();
  return (fault) => {
    const start = () => startSimulation(options, fault);
    const running = started.get(fault)?.then((before) => (before.ended() ? start() : before)) ?? start();
    started.set(fault, running);
    return running;
  };
}

async function startSimulation({ layout, processes, program, readyAfterMs }: SimulationOptions, fault: NodeFault): Promise<Running> {
  const stages = await writeStages(filesOf(layout.dir).stages, fault, readyAfterMs);
  return processes.start(`kwok-${fault}`, program, kwokArguments(layout, stages, selectorOf(fault), numberOf(fault)));
}
