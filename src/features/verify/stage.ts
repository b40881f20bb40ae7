import type { Context } from '../../kernel/context.ts';
import type { Sources } from '../../kernel/ports.ts';
import { stage } from '../../kernel/stage.ts';
import { latePods, reasonsOf, SETTLED_BY_ROLLOUT } from '../rollout/index.ts';
import { readClis } from '../service-cli/index.ts';
import { attempt, attemptWith, readInstalled } from '../survey/index.ts';
import { verifyChecks } from './checks.ts';
import type { VerifyFacts } from './facts.ts';
import { readOperatorLags } from './operator.ts';
import { readOwnerFacts, readStillOff } from './owners.ts';
import { readServiceImages } from './pods.ts';
import { readLeftBehind, readTemporaryPolicies } from './resources.ts';
import { readClusterVersion } from './version.ts';
import { readLeftovers, readResult, readTargetIfAny } from './workloads.ts';

/** Proves the result (§4.4/5, §9): versions, pods, leftovers, references; changes nothing. */
export const verifyStage = stage<VerifyFacts>({
  id: 'verify',
  title: 'Verify the result',
  ref: '§4.4/5',
  readOnly: true,
  judgesResult: true,
  settles: SETTLED_BY_ROLLOUT,
  checks: verifyChecks,
  survey: readVerifyFacts,
  plan: () => ({ actions: [] }),
});

async function readVerifyFacts(sources: Sources, context: Context): Promise<VerifyFacts> {
  const { cluster, tools } = sources;
  const [installed, clis] = await Promise.all([
    attempt(() => readInstalled(sources, context)),
    attempt(() => readClis(tools, context.profile)),
  ]);
  const target = await attemptWith(installed, (installation) => readTargetIfAny(sources, context, installation));
  const datastore = await attemptWith(installed, async (installation) => installation.datastore);
  const [clusterVersion, images, rollouts, operator, leftovers, leftBehind, temporaryPolicies, owners, stillOff] = await Promise.all([
    readClusterVersion(sources, context, 'value' in clis ? clis.value : [], 'value' in datastore ? datastore.value : 'api'),
    attempt(() => readServiceImages(cluster, context)),
    'unread' in installed ? installed : attemptWith(target, (one) => readResult(sources, context, installed.value, one)),
    attemptWith(installed, (one) => readOperatorLags(sources, context, one)),
    attemptWith(target, async (one) => (one ? readLeftovers(cluster, context, one) : undefined)),
    attempt(() => readLeftBehind(cluster, context)),
    attemptWith(datastore, (one) => readTemporaryPolicies(sources, context, one)),
    attempt(() => readOwnerFacts(cluster, context, 'value' in datastore ? datastore.value : 'api')),
    attempt(() => readStillOff(sources, context)),
  ]);
  const reasons = 'value' in rollouts ? await reasonsOf(cluster, latePods(rollouts.value)) : [];
  return {
    datastore,
    clusterVersion,
    images,
    rollouts,
    reasons,
    operator,
    leftovers,
    leftBehind,
    temporaryPolicies,
    owners,
    stillOff,
    clis,
  };
}
