import assert from 'node:assert/strict';
import { toOptions } from '../../src/cli/options.ts';
import { K } from '../../src/core/kinds.ts';
import type { KubeObject } from '../../src/core/object.ts';
import { storedMetadata } from '../../src/core/stored-metadata.ts';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { runChain } from '../../src/engine/run-chain.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import { sandboxPorts } from '../../src/sandbox/sandbox-ports.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { hepStage } from '../../src/stages/hep.ts';
import { faultyRecords, faultyTools } from './faulty-ports.ts';
import { endpoints, oldEndpoint, stateOf, upgraded } from './hep-sandbox.ts';
import { badLine, faultyCluster, type LineFault } from './owner-faults.ts';

interface Asked {
  readonly fault?: LineFault;
  readonly lists: Map<string, readonly KubeObject[]>;
}

/** A new process migrates; whatever it asks of the cluster, of the CLI and of the run record is a request. */
async function migrate(
  scenario: Scenario,
  { fault, lists }: Asked,
): Promise<{ readonly outcome?: ChainOutcome; readonly requests: readonly string[] }> {
  const ports = sandboxPorts(scenario);
  const line = badLine(scenario, fault);
  const { cluster } = faultyCluster(ports.cluster, scenario, { lists, line });
  const options = toOptions({ accept: ['NS-713'] }, { defaultRelease: netsvc.defaultRelease, checks: ['NS-713'] });
  const { clock, clusterUid, workFolder } = scenario;
  const where = { server: 'sandbox', contextName: 'sandbox', clusterUid, workFolder };
  const bad = { ...ports, cluster, tools: faultyTools(ports.tools, line), records: faultyRecords(ports.records, line) };
  const outcome = await runChain([hepStage], bad, { profile: netsvc, options, ...where, startedAt: clock.now() }, () => undefined).catch(
    () => undefined,
  );
  return { ...(outcome ? { outcome } : {}), requests: line.requests };
}

const NODES = 4;
const LABELS = (index: number) => ({ role: 'host', team: `t${index}` });

/** Four nodes: one old endpoint before, one after the automatic one in the order of names, two on one node, one node labelled in part. */
async function fleet(): Promise<Scenario> {
  const scenario = await upgraded(NODES);
  const { store } = scenario.cluster;
  const kind = scenario.cluster.kinds().find(({ plural }) => plural === 'hostendpoints');
  for (const { metadata } of endpoints(scenario)) if (kind) store.delete(kind, metadata.name);
  for (let index = 1; index <= NODES; index += 1) {
    oldEndpoint(scenario, index % 2 === 0 ? `aaa-${index}` : `zzz-${index}`, nodeName(index), LABELS(index));
  }
  const third = store.get(K.Node, nodeName(3));
  if (third) store.update(K.Node, { ...third, metadata: { ...third.metadata, labels: { ...third.metadata.labels, role: 'host' } } });
  oldEndpoint(scenario, 'zzz-second', nodeName(4), { role: 'host', more: 'yes' });
  return scenario;
}

const nodeName = (index: number) => `node-0${index}`;

/** At every change of an endpoint: hosts without one, and labels that neither an endpoint of theirs nor their node has. */
function watchLosses(scenario: Scenario): readonly string[] {
  const losses: string[] = [];
  scenario.cluster.store.listen(({ kind }) => {
    if (kind.plural !== 'hostendpoints') return;
    for (let index = 1; index <= NODES; index += 1) losses.push(...lossesOf(scenario, index));
  });
  return losses;
}

function lossesOf(scenario: Scenario, index: number): readonly string[] {
  const name = nodeName(index);
  const mine = endpoints(scenario).filter(({ spec }) => (spec as { readonly node?: string }).node === name);
  if (mine.length === 0) return [`${name} has no endpoint`];
  const has = mine.map((one) => storedMetadata(one, 'netsvc.io').labels);
  const wanted = { ...LABELS(index), ...(index === 4 ? { more: 'yes' } : {}) };
  return Object.entries(wanted).flatMap(([key, value]) => (has.some((labels) => labels[key] === value) ? [] : [`${name} lost ${key}`]));
}

/** Requests of a clean run, one line each. */
export async function cleanMigration(): Promise<{ readonly requests: readonly string[]; readonly end: unknown }> {
  const scenario = await fleet();
  const losses = watchLosses(scenario);
  const { outcome, requests } = await migrate(scenario, { lists: new Map() });
  const open = outcome?.findings.filter((one) => one.outcome === 'error').map(({ id, message }) => `${id} ${message}`);
  assert.deepEqual([outcome?.exit, outcome?.message, losses, open], ['done', undefined, [], []]);
  return { requests, end: stateOf(scenario) };
}

/** One fault, then one re-run: the same end, and at no moment a host without an endpoint or a label that is nowhere. */
export async function hepTrial(point: LineFault, end: unknown): Promise<void> {
  const scenario = await fleet();
  const losses = watchLosses(scenario);
  const lists = new Map<string, readonly KubeObject[]>();
  const first = await migrate(scenario, { fault: point, lists });
  const what = `${point.type} at request ${point.at} (${first.requests[point.at - 1] ?? 'none'})`;
  assert.ok(first.requests.length >= point.at, `${what}: never reached`);
  const again = await migrate(scenario, { lists });
  assert.deepEqual([again.outcome?.exit, again.outcome?.message], ['done', undefined], what);
  assert.deepEqual(losses, [], what);
  assert.deepEqual(stateOf(scenario), end, what);
  assert.equal(scenario.state.holder, undefined, `${what}: the lock`);
}
