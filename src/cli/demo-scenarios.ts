import type { Scenario } from '../sandbox/scenario.ts';
import { writeCniVersion } from '../sandbox/scenario.ts';
import type { RunFlags } from './flags.ts';

/** The cluster in memory before the run that is shown. */
export interface DemoStage {
  readonly scenario: Scenario;
  /** A run of somebody else, killed while it applies the release. */
  killedRun(identity: string): Promise<void>;
}

interface DemoScenario {
  /** What is told before the run. */
  readonly told: string;
  /** Nobody answers for the user: the run ends as it does without a terminal. */
  readonly needsPerson?: true;
  prepare(stage: DemoStage): Promise<void> | void;
}

const NODE = 'node-02';
/** Virtual milliseconds between a run that was killed and the next one. */
const LATER_MS = 4 * 60_000;

export type DemoScenarioName = NonNullable<RunFlags['scenario']>;

export const DEMO_SCENARIOS: Readonly<Record<DemoScenarioName, DemoScenario>> = {
  'image-pull': {
    told: `${NODE} cannot pull the new image: the run stops there.`,
    prepare: ({ scenario }) => scenario.cluster.nodes.fault(NODE, 'image-pull'),
  },
  'crash-loop': {
    told: `The new agent on ${NODE} crashes again and again: the run stops there.`,
    prepare: ({ scenario }) => scenario.cluster.nodes.fault(NODE, 'crash-loop'),
  },
  conflict: {
    told: 'Somebody edited a field that the new release changes as well: you decide which value stays.',
    needsPerson: true,
    prepare: ({ scenario }) => writeCniVersion(scenario, '0.4.0'),
  },
  lock: {
    told: 'Somebody else’s run is at work on this cluster.',
    async prepare({ scenario, killedRun }) {
      await killedRun('anna@host-1/4711/demo');
      await scenario.clock.sleep(LATER_MS);
    },
  },
  interrupted: {
    told: 'A run was killed while it applied the new release; four minutes later the same command resumes it.',
    async prepare({ scenario, killedRun }) {
      await killedRun('demo@sandbox');
      delete scenario.state.holder;
      await scenario.clock.sleep(LATER_MS);
    },
  },
};
