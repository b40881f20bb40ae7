import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { Fault } from '../../src/kernel/fault.ts';
import { ApiFailure } from '../../src/kernel/ports.ts';
import { unlessGone } from '../control-plane/api.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { type FaultProxy, startFaultProxy } from '../control-plane/fault-proxy.ts';
import type { LoggedRequest } from '../control-plane/proxy-log.ts';
import type { GroundOptions, GroundSweep, SweepGround } from './describe-sweep.ts';
import { isAmong } from './fault-points.ts';
import { pointText } from './fault-sweep.ts';
import { opened } from './installed-cluster.ts';
import { bareGraph, type OwnedPlane, ownedPlane } from './owned-cluster.ts';
import { assertRecorded, withJournal } from './owner-graph.ts';
import { restoreWork, stripWork } from './perform-stage.ts';
import { removalsTooEarly } from './removal-order.ts';

/** Objects whose references are swept. */
export const DEPENDENTS = 10;

export const LOSES_NO_REFERENCE = 'loses no reference that is not recorded, and has all back';

/** References come off and go back as they were: nothing is upgraded. */
export const OFF_AND_BACK: GroundSweep = {
  what: 'owner references come off and go back',
  keeps: LOSES_NO_REFERENCE,
  open: (options) => proxiedGround(swept, options),
};

type Sweeping = (owned: OwnedPlane, proxy: FaultProxy) => Promise<Omit<SweepGround, 'stop'>>;

/** A ground of this sweep, with a proxy between the program and the control plane. */
export function proxiedGround(sweeping: Sweeping, { maxMinutes }: GroundOptions): Promise<SweepGround> {
  return opened(async (endBy) => {
    const owned = await ownedPlane(DEPENDENTS, { maxMinutes });
    endBy(owned.stop);
    const { access, dir } = owned.plane;
    const proxy = await startFaultProxy({ behind: access, kubeconfigPath: join(dir, 'proxy.kubeconfig'), bodies: true, maxMinutes });
    endBy(proxy.stop);
    return sweeping(owned, proxy);
  });
}

const WORKS = [stripWork, restoreWork] as const;

async function swept({ plane, first, graph }: OwnedPlane, proxy: FaultProxy): Promise<Omit<SweepGround, 'stop'>> {
  const around = { home: join(plane.dir, 'home'), kubeconfig: proxy.kubeconfigPath, kubectl: plane.programs.kubectl };
  await mkdir(around.home, { recursive: true });
  /** Everything back, the journal and the run's record gone: the next fault meets what the first one met. */
  const asBefore = async (where: string) => {
    assert.deepEqual(await graph(), first, where);
    await forgetRun(plane);
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
      proxy.arm({ kind: point.kind, nth: point.nth, matches: (request) => isAmong(point.among, request) });
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
        assertDone(await work.perform(around), `${where}: ${struck?.method} ${struck?.path}`);
        if (work === stripWork) await assertOff(`${where}: ${struck?.method} ${struck?.path}`);
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

/** No journal, no record and no lock of a run in the cluster any more. */
export async function forgetRun({ kubeconfigPath, api }: ControlPlane): Promise<void> {
  await withJournal(kubeconfigPath, (journal) => journal.forget());
  for (const path of TRACES) await api.send('DELETE', path).catch(unlessGone);
}

export function assertDone({ exit, message, findings }: ChainOutcome, where: string): void {
  const open = findings.filter(({ outcome }) => outcome === 'error').map(({ id, message: why }) => `${id} ${why}`);
  assert.equal(exit, 'done', `${where}: ${message ?? ''} ${open.join('; ')}`);
}

/** A refusal, an answer that never came, or a person's next step; anything else is a defect. */
export function expected(thrown: unknown): false {
  if (thrown instanceof ApiFailure || thrown instanceof Fault) return false;
  throw thrown;
}
