import assert from 'node:assert/strict';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { hepStage } from '../../src/features/hosts/stage.ts';
import type { Tools } from '../../src/kernel/argv.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { faultyRecords, faultyTools } from './faulty-ports.ts';
import { hostLosses, nodeLosses } from './hep-fleet.ts';
import { endpoints, kindOf, oldEndpoint, stateOf, upgraded } from './hep-sandbox.ts';
import { assertDone, badLine, faultyCluster, type LineFault, openFindings } from './owner-faults.ts';
import { performIn, sandboxPorts } from './sandbox-ports.ts';

/** After each write and each call of the CLI: longer than the controllers take, so that they act on it before the next request. */
const PACE_MS = 1_500;

const slowTools = (tools: Tools, pause: () => Promise<void>): Tools => ({
  ...tools,
  run: async (invocation, options) => {
    const result = await tools.run(invocation, options);
    await pause();
    return result;
  },
});

interface Asked {
  readonly fault?: LineFault;
  readonly lists: Map<string, readonly KubeObject[]>;
  readonly undo?: boolean;
}

/** A new process migrates, or takes back; whatever it asks of the cluster, of the CLI and of the run record is a request. */
async function playHep(
  scenario: Scenario,
  { fault, lists, undo = false }: Asked,
): Promise<{ readonly outcome: ChainOutcome | undefined; readonly requests: readonly string[] }> {
  const ports = sandboxPorts(scenario);
  const line = badLine(scenario, fault);
  const pause = () => scenario.clock.sleep(PACE_MS);
  const { cluster } = faultyCluster(ports.cluster, scenario, { lists, line, onWritten: pause });
  const bad = { ...ports, cluster, tools: faultyTools(slowTools(ports.tools, pause), line), records: faultyRecords(ports.records, line) };
  const outcome = await performIn(scenario, [hepStage], { undo, accept: ['NS-713'] }, { ports: bad }).catch(() => undefined);
  return { outcome, requests: line.requests };
}

const NODES = 4;
const LABELS = (index: number) => ({ role: 'host', team: `t${index}` });

/** Four nodes: one old endpoint before, one after the automatic one in the order of names, two on one node, one node labelled in part. */
async function fleet(): Promise<Scenario> {
  const scenario = await upgraded(NODES);
  const { store } = scenario.cluster;
  const kind = kindOf(scenario.cluster, 'hostendpoints');
  for (const { metadata } of endpoints(scenario)) store.delete(kind, metadata.name);
  for (let index = 1; index <= NODES; index += 1) {
    oldEndpoint(scenario, index % 2 === 0 ? `aaa-${index}` : `zzz-${index}`, nodeName(index), LABELS(index));
  }
  const third = store.get(K.Node, nodeName(3));
  if (third) store.update(K.Node, { ...third, metadata: { ...third.metadata, labels: { ...third.metadata.labels, role: 'host' } } });
  oldEndpoint(scenario, 'zzz-second', nodeName(4), { role: 'host', more: 'yes' });
  return scenario;
}

const nodeName = (index: number) => `node-0${index}`;

/**
 * At every change of an endpoint: hosts without one, hosts that the policy no longer reaches, and labels that no endpoint of theirs has. At every change of a node: labels of a
 * person that it had before anything was done, and has no more.
 */
function watchLosses(scenario: Scenario): readonly string[] {
  const losses: string[] = [];
  const { store } = scenario.cluster;
  const before = store.list(K.Node).map(({ metadata: { name, labels = {} } }) => ({ name, labels }));
  store.listen(({ kind }) => {
    if (kind.plural === K.Node.plural) {
      for (const one of before) losses.push(...nodeLosses(one, store.get(K.Node, one.name)?.metadata.labels));
    }
    if (kind.plural !== 'hostendpoints') return;
    for (let index = 1; index <= NODES; index += 1) losses.push(...lossesOf(scenario, index));
  });
  return losses;
}

function lossesOf(scenario: Scenario, index: number): readonly string[] {
  const labels = { ...LABELS(index), ...(index === 4 ? { more: 'yes' } : {}) };
  return hostLosses({ name: nodeName(index), labels }, endpoints(scenario), 'netsvc.io');
}

/** Requests of a clean run, one line each. */
export async function cleanMigration(): Promise<{ readonly requests: readonly string[]; readonly end: unknown }> {
  const scenario = await fleet();
  const losses = watchLosses(scenario);
  const { outcome, requests } = await playHep(scenario, { lists: new Map() });
  assertDone(outcome, 'the clean run');
  assert.deepEqual([losses, openFindings(outcome)], [[], '']);
  return { requests, end: stateOf(scenario) };
}

/** One fault, then one re-run: the same end, and at no moment a host without an endpoint or a label that is nowhere. */
export async function hepTrial(point: LineFault, end: unknown): Promise<void> {
  const scenario = await fleet();
  await trial({ scenario, losses: watchLosses(scenario), lists: new Map() }, point, end, false);
}

async function trial({ scenario, losses, lists }: Omit<Migrated, 'before'>, point: LineFault, end: unknown, undo: boolean): Promise<void> {
  const first = await playHep(scenario, { fault: point, lists, undo });
  const what = `${undo ? '--undo: ' : ''}${point.type} at request ${point.at} (${first.requests[point.at - 1] ?? 'none'})`;
  assert.ok(first.requests.length >= point.at, `${what}: never reached`);
  await scenario.clock.sleep(PACE_MS);
  const again = await playHep(scenario, { lists, undo });
  assertDone(again.outcome, what);
  assert.deepEqual(losses, [], what);
  assert.deepEqual(stateOf(scenario), end, what);
  assert.equal(scenario.state.holder, undefined, `${what}: the lock`);
}

/** What each list said first in this sandbox: a stale answer to the way back is one from before the migration. */
type Lists = Map<string, readonly KubeObject[]>;

interface Migrated {
  readonly scenario: Scenario;
  readonly lists: Lists;
  readonly losses: readonly string[];
  readonly before: unknown;
}

/** A fleet that was migrated without trouble, watched from its beginning. */
async function migrated(): Promise<Migrated> {
  const scenario = await fleet();
  const [losses, lists, before] = [watchLosses(scenario), new Map(), structuredClone(stateOf(scenario))];
  const { outcome } = await playHep(scenario, { lists });
  assertDone(outcome, 'the migration');
  assert.deepEqual(losses, []);
  return { scenario, lists, losses, before };
}

/** The way back says `Disabled` where the configuration may have said nothing; all else is to the letter as it was. */
function withDisabled(state: unknown): unknown {
  const found = structuredClone(state) as { settings: { controllers: { node: { hostEndpoint?: object } } }[] };
  for (const { controllers } of found.settings)
    controllers.node.hostEndpoint = { autoCreate: 'Disabled', ...controllers.node.hostEndpoint };
  return found;
}

/** Requests of a clean way back, one line each. It ends where the migration began. */
export async function cleanUndo(): Promise<{ readonly requests: readonly string[]; readonly end: unknown }> {
  const { scenario, lists, losses, before } = await migrated();
  assert.notDeepEqual(stateOf(scenario), withDisabled(before));
  const { outcome, requests } = await playHep(scenario, { lists, undo: true });
  const end = stateOf(scenario);
  assertDone(outcome, 'the clean way back');
  assert.deepEqual(losses, []);
  assert.deepEqual(end, withDisabled(before));
  return { requests, end };
}

/** One fault on the way back, then one re-run: all is as before the migration, and at no moment was an endpoint or a label missing. */
export const undoTrial = async (point: LineFault, end: unknown): Promise<void> => trial(await migrated(), point, end, true);
