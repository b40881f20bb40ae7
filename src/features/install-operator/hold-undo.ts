import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { imageRelease, isOlder } from '../../kernel/release.ts';
import { containersOf, operatorRelease, pathPart } from '../survey/index.ts';
import { areAgentsBehind } from './agents-behind.ts';
import { isTyphaHeld, readHold, releaseLeft } from './hold.ts';
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
async function areNeeded({ cluster }: Sources, { profile }: Context, { operator }: Installation): Promise<boolean> {
  const { typha, namespace, deployment: name } = profile.operator;
  const own = operator ?? { namespace, name };
  const [deployment, live] = await Promise.all([
    cluster.get(K.Deployment, own.name, own.namespace),
    typha && cluster.get(K.Deployment, typha.name, typha.namespace),
  ]);
  const since = profile.typhaRefusesAgentsBefore;
  if (!deployment || !live || since === undefined || !installsOlder(deployment, profile)) return false;
  const releases = containersOf(live).map(({ image = '' }) => imageRelease(image));
  return releases.some((release) => release === undefined || !isOlder(release, since));
}

/** Of agents by the rule that the wait before a release goes by. */
async function isNeeded({ cluster }: Sources, context: Context, installation: Installation): Promise<boolean> {
  const { profile } = context;
  const { namespace, deployment: name } = profile.operator;
  const own = installation.operator ?? { namespace, name };
  const deployment = await cluster.get(K.Deployment, own.name, own.namespace);
  return !(deployment && installsOlder(deployment, profile)) && areAgentsBehind(cluster, context, installation);
}

/** This operator installs a Typha that refuses nobody. */
function installsOlder(deployment: KubeObject, profile: Profile): boolean {
  const runs = operatorRelease(deployment, profile);
  const release = runs?.release ?? (runs?.line === undefined ? undefined : `${runs.line}.0`);
  return release !== undefined && isOlder(release, profile.typhaRefusesAgentsBefore ?? '');
}
