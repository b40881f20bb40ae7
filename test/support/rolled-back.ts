import assert from 'node:assert/strict';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { runChain } from '../../src/engine/run-chain.ts';
import { chains } from '../../src/features/chain.ts';
import type { Observer } from '../../src/kernel/event.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { Kind, KubeObject } from '../../src/kernel/object.ts';
import type { Cluster } from '../../src/kernel/ports.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import type { AnyStage } from '../../src/kernel/stage.ts';
import { policyName } from '../../src/kube/stored-metadata.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { faultyCluster, type LineFault } from './owner-faults.ts';
import { type Runner, sameMachine, sandboxLock } from './owner-lock.ts';
import { contextIn, type Flags, installedSandbox, sandboxPorts } from './sandbox-ports.ts';

/** What a rollback does beside the stages that an upgrade has as well. */
export const goingBackStages = chains.rollback.filter(({ id }) => id.startsWith('rollback-'));

/** What the sandbox has installed counts as the new release; the old one is not there at all. */
export const OLD = 'v3.25.0';

/** The service of the sandbox, whose newest release renames policies and keeps labels in annotations. */
export const renamed: Profile = {
  ...netsvc,
  policyRenaming: { since: 'v3.26.0', prefix: 'default.', switchField: 'spec.controllers.policyMigration.enabled' },
  olderReaders: {
    ownMetadataBefore: 'v3.26.0',
    withoutLabels: ['ipamblocks'],
    policyNames: [{ since: 'v3.0.0', shows: 'cut', kinds: ['GlobalNetworkPolicy', 'NetworkPolicy'], unprefixed: ['knp.', 'ossg.'] }],
    tiersSince: 'v3.26.0',
    newBlocks: { since: 'v3.26.0', plural: 'ipamblocks', affinity: 'virtual:', pools: 'LoadBalancer', use: 'services' },
    kindsBeside: [],
    shownByCli: [],
    losesNothing: { kinds: [], fields: [], values: {} },
  },
};

export const CONTROLLERS = { namespace: 'kube-system', name: 'netsvc-kube-controllers' };
const GROUP = 'netsvc.io';
const MADE = '2020-01-01T00:00:00Z';

export function kindOf({ cluster }: Scenario, kind: string): Kind {
  const found = cluster.kinds().find((one) => one.kind === kind && one.group === `crd.${GROUP}`);
  assert.ok(found, `the sandbox has no kind ${kind}`);
  return found;
}

interface PolicyParts {
  readonly kind?: 'GlobalNetworkPolicy' | 'NetworkPolicy';
  readonly noted?: object;
  readonly spec?: object;
  readonly labels?: Readonly<Record<string, string>>;
}

/** As a person of the new release made it. */
export function addPolicy(
  scenario: Scenario,
  name: string,
  { kind = 'GlobalNetworkPolicy', noted, spec, labels }: PolicyParts = {},
): KubeObject {
  const resource = kindOf(scenario, kind);
  const annotations = { [`${GROUP}/metadata`]: JSON.stringify(noted ?? { name, creationTimestamp: MADE, labels: { of: name } }) };
  return scenario.cluster.registry.create(
    resource,
    {
      apiVersion: `crd.${GROUP}/v1`,
      kind,
      metadata: { name, ...(resource.namespaced ? { namespace: 'default' } : {}), annotations, ...(labels ? { labels } : {}) },
      spec: { selector: `of == "${name}"`, ...spec },
    },
    { manager: 'netsvc-apiserver' },
  );
}

export const POLICIES = ['web', 'db', 'cache'];

/** After an upgrade: policies under their new names. */
export async function upgradedSandbox(): Promise<Scenario> {
  const scenario = await installedSandbox({ nodes: 1 });
  for (const name of POLICIES) addPolicy(scenario, name);
  addPolicy(scenario, 'web', { kind: 'NetworkPolicy' });
  addPolicy(scenario, 'default.kept', { noted: { creationTimestamp: MADE } });
  return scenario;
}

interface RollingBack {
  readonly stages?: readonly AnyStage[];
  readonly flags?: Flags;
  readonly fault?: LineFault;
  readonly cluster?: Cluster;
  readonly observe?: Observer;
  readonly onWritten?: () => Promise<void>;
  readonly runner?: Runner;
}

/** A new process performs the stages of a rollback. Rejects with Killed where it was killed. */
export async function rollBack(
  scenario: Scenario,
  {
    stages = goingBackStages,
    flags = {},
    fault,
    cluster = scenario.cluster,
    observe = () => undefined,
    onWritten,
    runner = sameMachine('me'),
  }: RollingBack = {},
): Promise<{ readonly outcome: ChainOutcome; readonly requests: readonly string[] }> {
  const options = { lists: new Map(), ...(fault ? { fault } : {}), ...(onWritten ? { onWritten } : {}) };
  const line = faultyCluster(cluster, scenario, options);
  const ports = { ...sandboxPorts(scenario), cluster: line.cluster, lock: sandboxLock(scenario, line.cluster, runner) };
  // Nothing has the definitions of that release.
  const accept = ['NS-765', ...(flags.accept ?? [])];
  const context = { ...contextIn(scenario, { release: OLD, ...flags, accept }, renamed), intent: { kind: 'rollback' } as const };
  const outcome = await runChain(stages, ports, context, observe);
  scenario.cluster.faults.alive();
  return { outcome, requests: line.requests };
}

/** Every stored policy by its name in the v3 API: its selector, once for each place where it stands. */
export function inForce(scenario: Scenario): Readonly<Record<string, readonly string[]>> {
  const all = ['GlobalNetworkPolicy', 'NetworkPolicy'].flatMap((kind) => scenario.cluster.store.list(kindOf(scenario, kind)));
  const rows = all.map((one) => [`${one.kind}/${policyName(one, renamed)}`, `${JSON.stringify(one.spec)}`] as const);
  const grouped = Map.groupBy(rows, ([name]) => name);
  return Object.fromEntries(
    [...grouped].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, found]) => [name, [...new Set(found.map(([, text]) => text))]]),
  );
}

export function storedNames(scenario: Scenario, kind = 'GlobalNetworkPolicy'): readonly string[] {
  return scenario.cluster.store
    .list(kindOf(scenario, kind))
    .map(({ metadata }) => metadata.name)
    .sort();
}

export const controllersOf = ({ cluster: { store } }: Scenario) => store.get(K.Deployment, CONTROLLERS.name, CONTROLLERS.namespace);
export const podsOf = ({ cluster: { store } }: Scenario) =>
  store.list(K.Pod).filter(({ metadata }) => metadata.name.startsWith(CONTROLLERS.name));
