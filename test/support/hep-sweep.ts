import assert from 'node:assert/strict';
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

/** Hosts, and the labels of their old endpoints. */
const HOSTS = [1, 2, 3, 4].map((index) => ({
  name: `node-0${index}`,
  labels: { role: 'host', team: `t${index}`, ...(index === 4 ? { more: 'yes' } : {}) },
}));

type Fleet = Awaited<ReturnType<typeof fleet>>;

/** Four nodes: one old endpoint before, one after the automatic one in the order of names, two on one node, one node labelled in part. */
async function fleet() {
  const scenario = await upgraded(HOSTS.length);
  const { store } = scenario.cluster;
  const kind = kindOf(scenario.cluster, 'hostendpoints');
  for (const { metadata } of endpoints(scenario)) store.delete(kind, metadata.name);
  for (const [index, { name, labels }] of HOSTS.entries()) {
    const { role, team } = labels;
    oldEndpoint(scenario, `${index % 2 === 0 ? 'zzz' : 'aaa'}-${index + 1}`, name, { role, team });
  }
  const third = store.get(K.Node, 'node-03') ?? assert.fail();
  store.update(K.Node, { ...third, metadata: { ...third.metadata, labels: { ...third.metadata.labels, role: 'host' } } });
  oldEndpoint(scenario, 'zzz-second', 'node-04', { role: 'host', more: 'yes' });
  /** What each list said first in this sandbox: a stale answer to the way back is one from before the migration. */
  const lists = new Map<string, readonly KubeObject[]>();
  return { scenario, lists, losses: watchLosses(scenario), before: structuredClone(stateOf(scenario)) };
}

/**
 * At every change of an endpoint: hosts without one, hosts that the policy no longer reaches, and labels that no endpoint of theirs has. At
 * every change of a node: labels of a person that it had before anything was done, and has no more.
 */
function watchLosses(scenario: Scenario): readonly string[] {
  const losses: string[] = [];
  const { store } = scenario.cluster;
  const before = store.list(K.Node).map(({ metadata: { name, labels = {} } }) => ({ name, labels }));
  store.listen(({ kind: { plural } }) => {
    if (plural === K.Node.plural) for (const one of before) losses.push(...nodeLosses(one, store.get(K.Node, one.name)?.metadata.labels));
    if (plural === 'hostendpoints') for (const host of HOSTS) losses.push(...hostLosses(host, endpoints(scenario), 'netsvc.io'));
  });
  return losses;
}

/** A new process migrates, or takes back; whatever it asks of the cluster, of the CLI and of the run record is a request. */
async function play({ scenario, lists }: Fleet, undo: boolean, fault?: LineFault) {
  const ports = sandboxPorts(scenario);
  const line = badLine(scenario, fault);
  const pause = () => scenario.clock.sleep(PACE_MS);
  const slow: Tools = {
    ...ports.tools,
    async run(invocation, options) {
      const result = await ports.tools.run(invocation, options);
      await pause();
      return result;
    },
  };
  const { cluster } = faultyCluster(ports.cluster, scenario, { lists, line, onWritten: pause });
  const bad = { ...ports, cluster, tools: faultyTools(slow, line), records: faultyRecords(ports.records, line) };
  const outcome = await performIn(scenario, [hepStage], { undo, accept: ['NS-713'] }, { ports: bad }).catch(() => undefined);
  return { outcome, requests: line.requests };
}

/** It is done without trouble: its requests, one line each, and its end. */
async function clean(hosts: Fleet, undo: boolean) {
  const { outcome, requests } = await play(hosts, undo);
  assertDone(outcome, undo ? 'the clean way back' : 'the clean run');
  assert.deepEqual([hosts.losses, openFindings(outcome)], [[], '']);
  return { requests, end: stateOf(hosts.scenario) };
}

export const cleanMigration = async () => clean(await fleet(), false);

/** A fleet that was migrated without trouble, watched from its beginning. */
async function migrated(): Promise<Fleet> {
  const hosts = await fleet();
  await clean(hosts, false);
  return hosts;
}

/** It ends where the migration began. */
export async function cleanUndo() {
  const hosts = await migrated();
  const wanted = withDisabled(hosts.before);
  assert.notDeepEqual(stateOf(hosts.scenario), wanted);
  const { requests, end } = await clean(hosts, true);
  assert.deepEqual(end, wanted);
  return { requests, end };
}

/** The way back says `Disabled` where the configuration may have said nothing; all else is to the letter as it was. */
function withDisabled(state: unknown): unknown {
  const found = structuredClone(state) as { settings: { controllers: { node: { hostEndpoint?: object } } }[] };
  for (const { controllers } of found.settings)
    controllers.node.hostEndpoint = { autoCreate: 'Disabled', ...controllers.node.hostEndpoint };
  return found;
}

/** One fault, then one re-run: the same end, and at no moment a host without an endpoint or a label that is nowhere. */
export const hepTrial = async (point: LineFault, end: unknown): Promise<void> => trial(await fleet(), point, end, false);

/** One fault on the way back, then one re-run: all is as before the migration, and at no moment was an endpoint or a label missing. */
export const undoTrial = async (point: LineFault, end: unknown): Promise<void> => trial(await migrated(), point, end, true);

async function trial(hosts: Fleet, point: LineFault, end: unknown, undo: boolean): Promise<void> {
  const { scenario, losses } = hosts;
  const { requests } = await play(hosts, undo, point);
  const what = `${undo ? '--undo: ' : ''}${point.type} at request ${point.at} (${requests[point.at - 1] ?? 'none'})`;
  assert.ok(requests.length >= point.at, `${what}: never reached`);
  await scenario.clock.sleep(PACE_MS);
  assertDone((await play(hosts, undo)).outcome, what);
  assert.deepEqual(losses, [], what);
  assert.deepEqual(stateOf(scenario), end, what);
  assert.equal(scenario.state.holder, undefined, `${what}: the lock`);
}
