import assert from 'node:assert/strict';
import { upgradeFlags } from '../../src/cli/upgrade-flags.ts';
import { usualChain } from '../../src/features/chain.ts';
import type { InstallPath } from '../../src/kernel/installation.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import { shippedProfiles } from '../../src/profiles/index.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import { isPodReady } from '../../src/sandbox/pods-of.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { groundOf } from '../support/incident-grounds.ts';
import { OPERATOR_FILE, SPACE, TARGET } from '../support/netsvc-operated.ts';
import { chartNetsvc, operatedSandbox } from '../support/netsvc-operator-sandbox.ts';
import { playedHelm, withKnownChart } from '../support/played-helm.ts';
import { type Flags, installedSandbox, performIn, sandboxPorts } from '../support/sandbox-ports.ts';
import { CALICO_TARGET } from '../support/target.ts';
import { operates } from './ailing-pods.ts';

/** A cluster on which one path of one profile is gone from start to end. */
interface PathRun {
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

const runs: Readonly<Record<string, Readonly<Record<InstallPath, PathRun>>>> = {
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

const paths: readonly string[] = upgradeFlags.path.options;

describe('every install path of every profile, from start to end', () => {
  for (const profile of shippedProfiles)
    for (const path of paths)
      it(`${profile.name} by ${path}`, async () => {
        const run = runs[profile.name]?.[path as InstallPath] ?? assert.fail(`no run goes the path ${path} of ${profile.name}`);
        await goes(run, profile, path);
      });

  for (const path of paths)
    it(`netsvc by ${path}, each stage on a machine of its own that has nothing`, async () => {
      const run = runs.netsvc?.[path as InstallPath] ?? assert.fail(`no run goes the path ${path}`);
      const scenario = await run.open();
      const perform = performerOf(scenario, run, netsvc);
      let lost = 0;
      for (const [index, { id }] of usualChain.entries()) {
        const machine = `/pod-${index}`;
        const { exit, message } = await perform(usualChain.slice(0, index + 1), machine);
        assert.deepEqual([id, exit, message], [id, 'done', undefined]);
        for (const file of scenario.files.below(machine)) {
          scenario.files.remove(file);
          lost += 1;
        }
      }
      assert.ok(lost > 0, 'no machine had anything');
      await assertUpgraded(scenario, path, perform);
    });

  it('has no run of what there is not', () => {
    assert.deepEqual(Object.keys(runs).toSorted(), shippedProfiles.map(({ name }) => name).toSorted());
    for (const own of Object.values(runs)) assert.deepEqual(Object.keys(own).toSorted(), [...paths].toSorted());
  });
});

type Perform = ReturnType<typeof performerOf>;

/** Performs stages there, on this machine unless another is named. */
function performerOf(scenario: Scenario, { flags = {}, helm }: PathRun, profile: Profile) {
  return (stages = usualChain, workFolder = scenario.workFolder) => {
    const here = { ...scenario, workFolder };
    const ports = sandboxPorts(here);
    const [tools, artifacts] = [playedHelm(here, ports.tools, helm), withKnownChart(ports.artifacts)];
    return performIn(here, stages, { ...flags, skip: ['cli'] }, { profile, ports: { ...ports, tools, artifacts } });
  };
}

/** Upgraded by that very path, and a second run has nothing to do but to look. */
async function goes(run: PathRun, profile: Profile, path: string): Promise<void> {
  const scenario = await run.open();
  const perform = performerOf(scenario, run, profile);
  const first = await perform();
  const errors = first.findings.filter(({ outcome }) => outcome === 'error').map(({ id, message }) => `${id} ${message}`);
  assert.deepEqual([first.exit, first.message, errors], ['done', undefined, []]);
  await assertUpgraded(scenario, path, perform);
}

async function assertUpgraded(scenario: Scenario, path: string, perform: Perform): Promise<void> {
  const { record } = scenario.state;
  assert.equal(record?.path, path);
  assert.ok(
    record.stages.every(({ state }) => ['done', 'skipped'].includes(state)),
    JSON.stringify(record.stages),
  );
  const { writes } = scenario.cluster.faults;
  const second = await perform();
  assert.deepEqual([second.exit, second.message, scenario.cluster.faults.writes], ['done', undefined, writes]);
}
