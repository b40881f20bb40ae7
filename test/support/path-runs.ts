import { usualChain } from '../../src/features/chain.ts';
import type { Observer } from '../../src/kernel/event.ts';
import type { InstallPath } from '../../src/kernel/installation.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import { isPodReady } from '../../src/sandbox/pods-of.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { operates } from '../sandbox/ailing-pods.ts';
import { groundOf } from './incident-grounds.ts';
import { OPERATOR_FILE, SPACE, TARGET } from './netsvc-operated.ts';
import { chartNetsvc, operatedSandbox } from './netsvc-operator-sandbox.ts';
import { playedHelm, withKnownChart } from './played-helm.ts';
import { type Flags, installedSandbox, performIn, sandboxPorts } from './sandbox-ports.ts';
import { CALICO_TARGET } from './target.ts';

/** A cluster on which one path of one profile is gone from start to end. */
export interface PathRun {
  open(): Promise<Scenario>;
  readonly flags?: Flags;
  readonly helm?: Parameters<typeof playedHelm>[2];
}

const CALICO = { release: CALICO_TARGET } as const;
/** No CLI of Calico is played, which would know the cluster's version. */
const UNASKED = 'NS-301';

async function calico(ground: 'operator' | 'chart'): Promise<Scenario> {
  const { scenario } = await groundOf(ground);
  operates(scenario.cluster, scenario);
  return scenario;
}

/** In key-value mode only the agent's own container gets ready (§3). */
async function keyValue(): Promise<Scenario> {
  const scenario = await installedSandbox({ cli: false, file: 'netsvc-kvstore.yaml' });
  const { store } = scenario.cluster;
  const half = (pod: KubeObject) => {
    const live = store.get(K.Pod, pod.metadata.name, pod.metadata.namespace);
    if (!live?.metadata.name.startsWith('netsvc-node') || !isPodReady(live)) return;
    const status = live.status as { readonly conditions: readonly object[]; readonly containerStatuses: readonly object[] };
    const conditions = status.conditions.map((one) => ('type' in one && one.type === 'Ready' ? { ...one, status: 'False' } : one));
    const containerStatuses = status.containerStatuses.map((one, index) => ({ ...one, ready: index === 0 }));
    store.update(K.Pod, { ...live, status: { ...status, conditions, containerStatuses } } as KubeObject);
  };
  for (const pod of store.list(K.Pod)) half(pod);
  store.listen(({ kind, after }) => {
    if (kind.plural === K.Pod.plural && after) scenario.clock.schedule(0, () => half(after));
  });
  await scenario.clock.sleep(10_000);
  return scenario;
}

const byCalicoOperator = { ...CALICO, accept: [UNASKED] };

export const PATH_RUNS: Readonly<Record<string, Readonly<Record<InstallPath, PathRun>>>> = {
  netsvc: {
    chart: {
      async open() {
        const sandbox = await operatedSandbox();
        chartNetsvc(sandbox);
        return sandbox.scenario;
      },
      flags: { repo: 'https://charts.example.org' },
      helm: { name: SPACE, version: TARGET, file: OPERATOR_FILE, release: 'netsvc' },
    },
    operator: { open: async () => (await operatedSandbox()).scenario },
    manifest: { open: () => installedSandbox({ cli: false }) },
    kvstore: { open: keyValue, flags: { 'kvstore-endpoints': 'https://10.0.0.1:2379', accept: [UNASKED] } },
  },
  calico: {
    chart: { open: () => calico('chart'), flags: byCalicoOperator },
    operator: { open: () => calico('operator'), flags: byCalicoOperator },
    manifest: { open: async () => (await groundOf('calico')).scenario, flags: { ...CALICO, accept: [UNASKED] } },
    kvstore: { open: async () => (await groundOf('kvstore')).scenario, flags: { ...CALICO, accept: [UNASKED] } },
  },
};

/** Performs stages there, on this machine unless another is named. */
export function performerOf(scenario: Scenario, { flags = {}, helm }: PathRun, profile: Profile, observe?: Observer) {
  return (stages = usualChain, workFolder = scenario.workFolder) => {
    const here = { ...scenario, workFolder };
    const ports = sandboxPorts(here);
    const [tools, artifacts] = [playedHelm(here, ports.tools, helm), withKnownChart(ports.artifacts)];
    return performIn(here, stages, { ...flags, skip: ['cli'] }, { profile, observe, ports: { ...ports, tools, artifacts } });
  };
}
