import { K } from '../kernel/kinds.ts';
import { refOf } from '../kernel/object.ts';
import type { Scenario } from '../sandbox/scenario.ts';
import { findKind } from '../sandbox/store.ts';
import type { RunFlags } from './flags.ts';

/** The cluster in memory before the run that is shown. */
export interface DemoStage {
  readonly scenario: Scenario;
  /** A run of somebody else, killed while it applies the release. */
  killedRun(identity: string): Promise<void>;
  /** A run that came to its end. */
  wholeRun(): Promise<void>;
}

interface DemoScenario {
  /** What is told before the run. */
  readonly told: string;
  /** Flags that the run has besides. */
  readonly flags?: Pick<RunFlags, 'canary' | 'soak'>;
  /** What is shown is a rollback. */
  readonly goesBack?: true;
  /** Nobody answers for the user: the run ends as it does without a terminal. */
  readonly needsPerson?: true;
  prepare(stage: DemoStage): Promise<void> | void;
}

const NODE = 'node-02';
/** The first of the nodes that `--canary 2` chooses. */
const CANARY = 'node-01';
/** Virtual milliseconds between a run that was killed and the next one. */
const LATER_MS = 4 * 60_000;
const NEXT_MORNING_MS = 14 * 3_600_000;

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
  'canary-fails': {
    told: `The new agents of two nodes come first, and the one on ${CANARY} crashes again and again: nothing else is touched.`,
    flags: { canary: '2', soak: '30m' },
    prepare: ({ scenario }) => scenario.cluster.nodes.fault(CANARY, 'crash-loop'),
  },
  conflict: {
    told: 'Somebody set a field that the new release sets as well: you decide which value stays.',
    needsPerson: true,
    prepare: setSeccompProfile,
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
  ebpf: {
    told: 'The cluster is in eBPF mode: once an agent is new there is no undo, and connections can break. The plan says so first.',
    prepare: ({ scenario: { cluster } }) => {
      const settings = { apiVersion: `${cluster.profile.crdGroup}/v1`, kind: 'FelixConfiguration' };
      const kind = findKind(cluster.kinds(), settings.apiVersion, settings.kind);
      if (!kind) throw new Error(`the sandbox does not serve ${settings.kind}`);
      cluster.store.insert(kind, { ...settings, metadata: { name: 'default' }, spec: { bpfEnabled: true } });
    },
  },
  rollback: {
    told: 'The upgrade is done, and does not do what you need: the cluster goes back to the release that it came from.',
    goesBack: true,
    async prepare({ scenario, wholeRun }) {
      await wholeRun();
      await scenario.clock.sleep(NEXT_MORNING_MS);
    },
  },
};

/** As somebody does whose nodes run a profiler beside the agents. v3.32 sets RuntimeDefault. */
async function setSeccompProfile({ scenario: { cluster, clock } }: DemoStage): Promise<void> {
  const { registry, store } = cluster;
  const [agents] = store.list(K.DaemonSet);
  if (agents === undefined) throw new Error('the sandbox has no DaemonSet');
  const patch = { spec: { template: { spec: { securityContext: { seccompProfile: { type: 'Unconfined' } } } } } };
  registry.mergePatch(K.DaemonSet, refOf(agents), patch, { manager: 'kubectl-edit' });
  await clock.sleep(LATER_MS);
}
