import assert from 'node:assert/strict';
import type { EngineEvent } from '../../src/kernel/event.ts';
import { migratePolicies } from '../control-plane/policy-migration.ts';
import { NEW_SERVER, OLD_SERVER, type ServerRule } from '../control-plane/service-objects.ts';
import { until } from '../control-plane/until.ts';
import { collectorStartsAnew } from './collector-settles.ts';
import type { GroundSweep, SweepGround } from './describe-sweep.ts';
import { armed, type FaultPoint, pointText } from './fault-points.ts';
import { fillOwnedObjects, GROUP, removeOwnedObjects } from './owned-objects.ts';
import { assertDone } from './owner-faults.ts';
import { assertRecorded, graphAfter, readOwnerNames } from './owner-graph.ts';
import { restoreAnewWork, stripWork } from './perform-stage.ts';
import { DEPENDENTS, expected, type ProxiedPlane, proxiedGround } from './proxied-ground.ts';
import { removalsTooEarly } from './removal-order.ts';

/**
 * References come off, the API server of the service serves new UIDs, and they go back with these: first while stored policies wait for
 * their new names, which they get as soon as the program waits for that. Only what goes back meets faults.
 */
export const BACK_ANEW: GroundSweep = {
  what: 'owner references go back with new UIDs',
  keeps: 'loses no reference that is not recorded, and has all back',
  open: (options) => proxiedGround(swept, options),
};

async function swept({ plane, served, graph, proxy, around, forgetRun }: ProxiedPlane): Promise<SweepGround> {
  /** The first answer by the new rule may have to wait: the old one's connections were cut. */
  const serveBy = async (rule: ServerRule) => {
    served.serve(rule);
    await until('v3 is served again', async () => (await plane.api.get(`/apis/${GROUP}/v3/ippools`)) !== undefined);
  };

  /** Off, the upgrade, back with the fault on the way, and back once more. */
  const round = async (where: string, fault?: FaultPoint) => {
    const [first, owners] = [await graph(), await readOwnerNames(plane.api, OLD_SERVER)];
    const from = proxy.requests.length;
    proxy.forgetAnswers();
    assertDone(await stripWork.perform(around), `${where}, ${stripWork.name}`);
    await serveBy(NEW_SERVER);
    const renaming = renamedOnce(() => migratePolicies(plane.api, GROUP));
    const begun = proxy.requests.length;
    if (fault) proxy.arm(armed(fault));
    const isDone = await restoreAnewWork
      .perform(around, renaming.observe)
      .then(({ exit }) => exit === 'done', expected)
      .finally(renaming.done);
    const tried = proxy.requests.slice(begun);
    await assertRecorded(plane, first, where);
    const struck = proxy.disarm();
    assert.ok(isDone || struck, `${where}: it ended badly though no fault was met`);
    const met = `${where}: ${struck?.method} ${struck?.path}`;
    assertDone(await restoreAnewWork.perform(around), met);
    const wanted = graphAfter(first, owners, await readOwnerNames(plane.api, NEW_SERVER));
    assert.deepEqual(await graph(), wanted, met);
    assert.deepEqual(removalsTooEarly(proxy.requests.slice(from)), [], where);
    return { tried, struck, waited: renaming.waited, wanted };
  };

  /** UIDs, names and objects as before the first round, too. */
  const asBefore = async () => {
    await forgetRun();
    await removeOwnedObjects(plane.api);
    await serveBy(OLD_SERVER);
    await fillOwnedObjects(plane.api, DEPENDENTS);
  };

  const { tried, waited, wanted } = await round('without a fault');
  assert.ok(waited, 'restore waits for the new names of policies');
  await collectorStartsAnew(plane);
  assert.deepEqual(await graph(), wanted, 'the garbage collector takes nothing');
  await asBefore();
  return {
    clean: tried,
    async sweep(point) {
      try {
        return (await round(pointText(point), point)).struck !== undefined;
      } finally {
        // What failed here is this point's failure alone.
        proxy.disarm();
        await asBefore();
      }
    },
  };
}

/** Policies get their new names when the program first waits for something; at the latest when that is asked for. */
function renamedOnce(rename: () => Promise<void>) {
  let renaming: Promise<void> | undefined;
  let waited = false;
  const begin = () => {
    renaming ??= rename();
    return renaming;
  };
  return {
    observe(event: EngineEvent) {
      if (event.type !== 'action-started' || event.action.effect.type !== 'wait') return;
      waited = true;
      // Whether it failed is heard by who asks for its end.
      begin().catch(() => undefined);
    },
    done: begin,
    get waited() {
      return waited;
    },
  };
}
