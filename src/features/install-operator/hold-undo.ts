import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import { refOf, refText } from '../../kernel/object.ts';
import type { ClusterReader, Sources } from '../../kernel/ports.ts';
import { imageRelease, isOlder } from '../../kernel/release.ts';
import type { StagePlan } from '../../kernel/stage.ts';
import { operatorRelease } from '../survey/index.ts';
import { isHeld, readHold, releaseAction } from './hold.ts';
import { type HoldUndone, neededNoMore } from './hold-checks.ts';
import { workloadLags } from './operator-causes.ts';

/** `apply --undo`: the hold of Typha is all of apply that has an undo of its own. */
export const holdUndo = {
  checks: [neededNoMore],
  async survey(sources: Sources, context: Context, installation: Installation): Promise<HoldUndone> {
    const hold = await readHold(sources, context, installation, await sources.records.load(), true);
    return { hold, isNeeded: hold !== undefined && isHeld(hold) && (await isNeeded(sources.cluster, context, installation)) };
  },
  plan({ hold }: HoldUndone): StagePlan {
    if (!hold || !(isHeld(hold) || hold.copies.length > 0)) return { skip: 'this program holds no Typha here' };
    return {
      actions: [releaseAction(hold)],
      notes: [`only ${refText(refOf(hold.typha))} is released; the rest of apply is undone with the backup`],
    };
  },
};

async function isNeeded(cluster: ClusterReader, { profile }: Context, { operator: found }: Installation): Promise<boolean> {
  const { operator, typhaRefusesAgentsBefore: since = '' } = profile;
  const own = found ?? { namespace: operator.namespace, name: operator.deployment };
  const [deployment, agents] = await Promise.all([
    cluster.get(K.Deployment, own.name, own.namespace),
    cluster.list(K.DaemonSet, { namespace: operator.workloadNamespace }),
  ]);
  const runs = deployment && operatorRelease(deployment, profile);
  const release = runs?.release ?? (runs?.line === undefined ? undefined : `${runs.line}.0`);
  if (release !== undefined && isOlder(release, since)) return false;
  const lag = (image: string) => {
    const of = imageRelease(image);
    return of === undefined || isOlder(of, since) ? 'old' : '';
  };
  return agents.some((one) => workloadLags(one, lag, false).length > 0);
}
