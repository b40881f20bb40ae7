import assert from 'node:assert/strict';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { stateOf } from './hep-sandbox.ts';
import { fleet, PACE_MS, playHep, watchLosses } from './hep-sweep.ts';
import type { LineFault } from './owner-faults.ts';

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
  assert.deepEqual([outcome?.exit, outcome?.message, losses], ['done', undefined, []]);
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
  assert.deepEqual([outcome?.exit, outcome?.message, losses], ['done', undefined, []]);
  assert.deepEqual(end, withDisabled(before));
  return { requests, end };
}

/** One fault on the way back, then one re-run: all is as before the migration, and at no moment was an endpoint or a label missing. */
export async function undoTrial(point: LineFault, end: unknown): Promise<void> {
  const { scenario, lists, losses } = await migrated();
  const first = await playHep(scenario, { fault: point, lists, undo: true });
  const what = `--undo: ${point.type} at request ${point.at} (${first.requests[point.at - 1] ?? 'none'})`;
  assert.ok(first.requests.length >= point.at, `${what}: never reached`);
  await scenario.clock.sleep(PACE_MS);
  const again = await playHep(scenario, { lists, undo: true });
  assert.deepEqual([again.outcome?.exit, again.outcome?.message], ['done', undefined], what);
  assert.deepEqual(losses, [], what);
  assert.deepEqual(stateOf(scenario), end, what);
  assert.equal(scenario.state.holder, undefined, `${what}: the lock`);
}
