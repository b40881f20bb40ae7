import assert from 'node:assert/strict';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../../src/kernel/fault.ts';
import { ApiFailure } from '../../src/kernel/ports.ts';
import { unlessGone } from '../control-plane/api.ts';
import { type FaultProxy, startFaultProxy } from '../control-plane/fault-proxy.ts';
import type { LoggedRequest } from '../control-plane/proxy-log.ts';
import type { GroundOptions, GroundSweep, SweepGround } from './describe-sweep.ts';
import { armed, pointText } from './fault-points.ts';
import { opened } from './installed-cluster.ts';
import { bareGraph, type OwnedPlane, ownedPlane } from './owned-cluster.ts';
import { assertDone } from './owner-faults.ts';
import { assertRecorded, withJournal } from './owner-graph.ts';
import { restoreWork, stripWork } from './perform-stage.ts';
import { removalsTooEarly } from './removal-order.ts';
import type { Surroundings } from './upgrade-process.ts';

/** Objects whose references are swept. */
export const DEPENDENTS = 10;

export const LOSES_NO_REFERENCE = 'loses no reference that is not recorded, and has all back';

/** References come off and go back as they were: nothing is upgraded. */
export const OFF_AND_BACK: GroundSweep = {
  what: 'owner references come off and go back',
  keeps: LOSES_NO_REFERENCE,
  open: (options) => proxiedGround(swept, options),
};

export interface ProxiedPlane extends OwnedPlane {
  readonly proxy: FaultProxy;
  /** It leads through the proxy. */
  readonly around: Surroundings;
  /** No journal, no record and no lock of a run in the cluster any more, and nothing on this machine: the next fault meets what the first one met. */
  forgetRun(): Promise<void>;
}

/** A ground of this sweep, with a proxy between the program and the control plane. */
export function proxiedGround(
  sweeping: (ground: ProxiedPlane) => Promise<SweepGround>,
  { maxMinutes }: GroundOptions,
): Promise<SweepGround> {
  return opened(async (endBy) => {
    const owned = await ownedPlane(DEPENDENTS, { maxMinutes });
    endBy(owned.stop);
    const { access, dir, api, programs } = owned.plane;
    const proxy = await startFaultProxy({ behind: access, kubeconfigPath: join(dir, 'proxy.kubeconfig'), bodies: true, maxMinutes });
    endBy(proxy.stop);
    const around = { home: join(dir, 'home'), kubeconfig: proxy.kubeconfigPath, kubectl: programs.kubectl };
    const forgetRun = async () => {
      await withJournal(owned.plane, (journal) => journal.forget());
      for (const path of TRACES) await api.send('DELETE', path).catch(unlessGone);
      await emptied(around.home);
    };
    await emptied(around.home);
    return sweeping({ ...owned, proxy, around, forgetRun });
  });
}

const WORKS = [stripWork, restoreWork] as const;

async function swept({ plane, first, graph, proxy, around, forgetRun }: ProxiedPlane): Promise<SweepGround> {
  const asBefore = async (where: string) => {
    assert.deepEqual(await graph(), first, where);
    await forgetRun();
  };
  const bare = bareGraph(first);
  /** Whatever it met on the way: one that says it is done has found every reference. */
  const assertOff = async (where: string) => assert.deepEqual(await graph(), bare, where);
  for (const work of WORKS) {
    assertDone(await work.perform(around), `${work.name} without a fault`);
    if (work === stripWork) await assertOff('without a fault');
  }
  const clean = [...proxy.requests];
  assert.deepEqual(removalsTooEarly(clean), []);
  await asBefore('without a fault');
  return {
    clean,
    async sweep(point) {
      proxy.forgetAnswers();
      proxy.arm(armed(point));
      const from = proxy.requests.length;
      let struck: LoggedRequest | undefined;
      for (const work of WORKS) {
        const where = `${pointText(point)}, ${work.name}`;
        const isDone = await work.perform(around).then(({ exit }) => exit === 'done', expected);
        await assertRecorded(plane, first, where);
        if (isDone && work === stripWork) {
          await assertOff(where);
          continue;
        }
        struck ??= proxy.disarm();
        const met = `${where}: ${struck?.method} ${struck?.path}`;
        assertDone(await work.perform(around), met);
        if (work === stripWork) await assertOff(met);
      }
      assert.deepEqual(removalsTooEarly(proxy.requests.slice(from)), [], pointText(point));
      await asBefore(`${pointText(point)}: ${struck?.method} ${struck?.path}`);
      return struck !== undefined;
    },
  };
}

const TRACES = [
  '/api/v1/namespaces/kube-system/secrets/netsvc-upgrade-run',
  '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/netsvc-upgrade',
];

/** A folder that is there, with nothing in it. */
export async function emptied(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
}

/** A refusal, an answer that never came, or a person's next step; anything else is a defect. */
export function expected(thrown: unknown): false {
  if (thrown instanceof ApiFailure || thrown instanceof Fault) return false;
  throw thrown;
}
