import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { imageAge, imageRelease, isOlder, lineOf } from '../../kernel/release.ts';
import { heldBy } from '../../kube/held.ts';
import { containersOf, operatorRelease, pathPart } from '../survey/index.ts';
import { areAgentsBehind } from './agents-behind.ts';
import { type HoldFacts, isTyphaHeld, readHold, releaseLeft } from './hold.ts';
import { heldSets, readAgentsHold, releaseAgents } from './hold-agents.ts';
import { type HoldUndone, neededNoMore } from './hold-checks.ts';
import { type PaceFacts, paceNotes, readPace, returnOwnPace } from './pace.ts';

/** `apply --undo`: what is held back from the operator is all of apply that has an undo of its own. */
export const holdUndo = pathPart<HoldUndone & { readonly pace: PaceFacts | undefined }>({
  checks: [neededNoMore],
  async survey(sources, context, installation) {
    const record = await sources.records.load();
    const [hold, agents, pace] = await Promise.all([
      readHold(sources, context, installation, record, true),
      readAgentsHold(sources, context, installation, record),
      readPace(sources, context, installation),
    ]);
    return {
      pace,
      hold,
      isNeeded: hold !== undefined && isTyphaHeld(hold) && (await isNeeded(sources, context, installation)),
      goesForward: hold !== undefined && (await goesForward(sources, context, installation, hold)),
      agents,
      areNeeded: heldSets(agents).length > 0 && (await areNeeded(sources, context, installation)),
    };
  },
  plan({ hold, agents, pace }) {
    const actions = [...returnOwnPace(pace), ...releaseLeft(hold), ...releaseAgents(agents)];
    if (actions.length === 0) return { skip: 'this program holds nothing back from the operator here' };
    return {
      actions,
      notes: [...paceNotes(pace, false), 'only what is held is released; the rest of apply is undone by a rollback, or with the backup'],
    };
  },
});

/** An older operator runs, and Typha is not old yet: once they are released it replaces both at once. */
async function areNeeded({ cluster }: Sources, { profile }: Context, installation: Installation): Promise<boolean> {
  const { typha } = profile.operator;
  const [deployment, live] = await Promise.all([
    readOperatorOf(cluster, profile, installation),
    typha && cluster.get(K.Deployment, typha.name, typha.namespace),
  ]);
  const since = profile.typhaRefusesAgentsBefore;
  if (!deployment || !live || since === undefined || !installsOlder(deployment, profile)) return false;
  const releases = containersOf(live).map(({ image = '' }) => imageRelease(image));
  return releases.some((release) => release === undefined || !isOlder(release, since));
}

/** Of agents by the rule that the wait before a release goes by. */
async function isNeeded({ cluster }: Sources, context: Context, installation: Installation): Promise<boolean> {
  const deployment = await readOperatorOf(cluster, context.profile, installation);
  return !(deployment && installsOlder(deployment, context.profile)) && areAgentsBehind(cluster, context, installation);
}

/** Once they are released, the operator of the target makes new controllers of the old ones. */
async function goesForward({ cluster }: Sources, context: Context, installation: Installation, { all }: HoldFacts): Promise<boolean> {
  const { profile, goal } = context;
  const controllers = all.find(({ id, object }) => id === 'controllers' && heldBy(object) !== undefined);
  if (!controllers || containersOf(controllers.object).every(({ image = '' }) => imageAge(image, goal.release) === 'of')) return false;
  const deployment = await readOperatorOf(cluster, profile, installation);
  const runs = deployment && operatorRelease(deployment, profile);
  if (runs?.release !== undefined) return !isOlder(runs.release, goal.release);
  return runs?.line === undefined || !isOlder(`${runs.line}.0`, `${lineOf(goal.release)}.0`);
}

function readOperatorOf(cluster: Sources['cluster'], { operator }: Profile, installation: Installation): Promise<KubeObject | undefined> {
  const { name, namespace } = installation.operator ?? { namespace: operator.namespace, name: operator.deployment };
  return cluster.get(K.Deployment, name, namespace);
}

/** This operator installs a Typha that refuses nobody. */
function installsOlder(deployment: KubeObject, profile: Profile): boolean {
  const runs = operatorRelease(deployment, profile);
  const release = runs?.release ?? (runs?.line === undefined ? undefined : `${runs.line}.0`);
  return release !== undefined && isOlder(release, profile.typhaRefusesAgentsBefore ?? '');
}
