import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { isOlder } from '../../kernel/release.ts';
import { operatorRelease, pathPart } from '../survey/index.ts';
import { operatorEndNames } from './end.ts';
import { isHeld, readHold, releaseAction } from './hold.ts';
import { type HoldUndone, neededNoMore } from './hold-checks.ts';
import { readPinnedImages } from './operated-images.ts';
import { agentLags } from './operator-causes.ts';

/** `apply --undo`: the hold of Typha is all of apply that has an undo of its own. */
export const holdUndo = pathPart<HoldUndone>({
  checks: [neededNoMore],
  async survey(sources, context, installation) {
    const hold = await readHold(sources, context, installation, await sources.records.load(), true);
    return { hold, isNeeded: hold !== undefined && isHeld(hold) && (await isNeeded(sources, context, installation)) };
  },
  plan({ hold }) {
    if (!hold || !(isHeld(hold) || hold.copies.length > 0)) return { skip: 'this program holds no Typha here' };
    return {
      actions: [releaseAction(hold)],
      notes: [`only ${refText(refOf(hold.typha))} is released; the rest of apply is undone with the backup`],
    };
  },
});

/** Of agents by the rule that the wait before a release goes by. */
async function isNeeded({ cluster }: Sources, context: Context, installation: Installation): Promise<boolean> {
  const { profile, goal } = context;
  const names = operatorEndNames(profile, installation.operator);
  if (!names) return true;
  const { deployment: own, workloads: namespace } = names;
  const [deployment, workloads, pinned] = await Promise.all([
    cluster.get(K.Deployment, own.name, own.namespace),
    cluster.list(K.DaemonSet, { namespace }),
    readPinnedImages(cluster, context),
  ]);
  if (deployment && installsOlder(deployment, profile)) return false;
  const target = { release: goal.release, operatorImage: '', digests: pinned.map(({ digest }) => digest) };
  return agentLags({ workloads, names, target }).length > 0;
}

/** This operator installs a Typha that refuses nobody. */
function installsOlder(deployment: KubeObject, profile: Profile): boolean {
  const runs = operatorRelease(deployment, profile);
  const release = runs?.release ?? (runs?.line === undefined ? undefined : `${runs.line}.0`);
  return release !== undefined && isOlder(release, profile.typhaRefusesAgentsBefore ?? '');
}
