import { read } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { allOf } from '../../kernel/each-of.ts';
import { type Datastore, hasFullManifest } from '../../kernel/installation.ts';
import { textAt } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import { type KubeObject, refText } from '../../kernel/object.ts';
import type { ClusterReader, Sources } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { imageAge, imageRelease, lineOf } from '../../kernel/release.ts';
import type { RolloutProgress } from '../../kernel/rollout.ts';
import { hasStopped, recordHere, waitsForUser } from '../../kernel/run-record.ts';
import { stage } from '../../kernel/stage.ts';
import { slimPod } from '../../kube/lean-objects.ts';
import { hasEnded, podContainers } from '../../kube/pod-facts.ts';
import { heldForUser } from '../canary/index.ts';
import { type NameProblem, readMissed } from '../going-back/index.ts';
import { pathOf } from '../install/index.ts';
import { readStillHeld } from '../install-operator/index.ts';
import { followOwners } from '../ownerrefs/index.ts';
import { allow, needs } from '../rights/index.ts';
import { latePods, otherPodsOf, reasonsOf, SETTLED_BY_ROLLOUT } from '../rollout/index.ts';
import { type FoundCli, leadCli, readClis, readCliVersion, usableClis } from '../service-cli/index.ts';
import { attempt, attemptWith, isFromRegistry, isImageOf, readInstalled, readPinnedImages, serviceNamespaces } from '../survey/index.ts';
import { verifyChecks } from './checks.ts';
import {
  type ClusterVersionFacts,
  readIpamCompared,
  readLeftBehind,
  readLeftovers,
  readResult,
  readStillOff,
  readStrategyLeft,
  readTargetIfAny,
  readTemporaryPolicies,
  type ServiceImage,
  type VerifyFacts,
  type VersionAnswer,
} from './survey.ts';
import { agentsIn } from './workloads-checks.ts';

/** Proves the result (§4.4/5, §9): versions, pods, leftovers, references; changes nothing. */
export const verifyStage = stage<VerifyFacts>({
  id: 'verify',
  title: 'Verify the result',
  ref: '§4.4/5',
  readOnly: true,
  needs: [
    needs.detection,
    needs.storedResources,
    needs.removedKinds,
    needs.ownerSearch,
    needs.operatorEnd,
    needs.holdCopies,
    () => allow(['get'], [K.DaemonSet, K.Deployment], 'the result'),
  ],
  judgesResult: true,
  settles: SETTLED_BY_ROLLOUT,
  checks: verifyChecks,
  survey: readVerifyFacts,
  plan: () => ({ actions: [] }),
});

async function readVerifyFacts(sources: Sources, context: Context): Promise<VerifyFacts> {
  const { cluster, tools } = sources;
  const [installed, pods, clis] = await Promise.all([
    attempt(() => readInstalled(sources, context)),
    attempt(() => cluster.list(K.Pod, { keep: slimPod })),
    attempt(() => readClis(tools, context.profile)),
  ]);
  const target = await attemptWith(installed, (installation) => readTargetIfAny(sources, context, installation));
  const datastore = await attemptWith(installed, async (installation) => installation.datastore);
  const found = await allOf({
    clusterVersion: readClusterVersion(sources, context, 'value' in clis ? clis.value : [], 'value' in datastore ? datastore.value : 'api'),
    images: attemptWith(pods, (all) => readServiceImages(cluster, context, all)),
    otherPods: attemptWith(pods, async (all) => otherPodsOf(all, await sources.records.load(), context)),
    rollouts: 'unread' in installed ? installed : attemptWith(target, (one) => readResult(sources, context, installed.value, one)),
    operator: attemptWith(installed, (one) => pathOf(one).lags(sources, context, one)),
    held: attemptWith(installed, (one) =>
      hasFullManifest(one) ? readStrategyLeft(sources, context, one) : readStillHeld(cluster, context, one),
    ),
    leftovers: attemptWith(target, async (one) => (one ? readLeftovers(cluster, context, one) : undefined)),
    leftBehind: attempt(() => readLeftBehind(cluster, context)),
    temporaryPolicies: attemptWith(datastore, (one) => readTemporaryPolicies(sources, context, one)),
    owners: attemptWith(installed, (one) => followOwners(cluster, context, one)),
    stillOff: attempt(() => readStillOff(sources, context)),
    missed: attemptWith(installed, async (one) => (context.goal.takesBack ? readMissedNow(sources, context, one) : undefined)),
    ipam: 'unread' in installed ? installed : attemptWith(pods, (all) => readIpamCompared(sources, context, installed.value, all)),
  });
  const onward = 'value' in found.rollouts ? await readOnward(sources, found.rollouts.value, context) : undefined;
  const reasons = 'value' in found.rollouts ? (await reasonsOf(cluster, latePods(found.rollouts.value))).map(({ plain }) => plain) : [];
  return { ...found, datastore, onward, reasons, clis };
}

/** Nothing beside a run at work. Who may not look is told to wait. */
async function readOnward(sources: Sources, rollouts: readonly RolloutProgress[], context: Context): Promise<VerifyFacts['onward']> {
  const open = rollouts.filter(({ done }) => !done);
  if (open.length === 0) return undefined;
  const agents = agentsIn(rollouts);
  const found = await attempt(async () => {
    if (await sources.lock.holder()) return undefined;
    const record = recordHere(await sources.records.load(), context);
    if (record && hasStopped(record) && open.every(({ unapplied }) => unapplied)) return 'stopped';
    // Not of a run that has failed.
    const waits = record !== undefined && waitsForUser(record) && agents?.done === false;
    const isHeld = waits && (await heldForUser(sources, agents.target, async () => record));
    return isHeld ? 'held' : open.some(({ unapplied }) => unapplied) ? 'run' : undefined;
  });
  return 'value' in found ? found.value : undefined;
}

async function readMissedNow(...of: Parameters<typeof readMissed>): Promise<readonly NameProblem[] | undefined> {
  return read(await readMissed(...of));
}

/** What the new CLI says, and what the cluster's own record says (§4.4/5, §4.5/5). */
export async function readClusterVersion(
  sources: Sources,
  context: Context,
  clis: readonly FoundCli[],
  datastore: Datastore,
): Promise<ClusterVersionFacts> {
  return allOf({ cli: askCli(sources, context, clis, datastore), record: attempt(() => readRecord(sources.cluster, context)) });
}

async function askCli(
  sources: Sources,
  context: Context,
  clis: readonly FoundCli[],
  datastore: Datastore,
): Promise<ClusterVersionFacts['cli']> {
  const { ofLine: file } = await usableClis(sources, context, clis);
  if (file === undefined) return { notAsked: `none of ${lineOf(context.goal.release) ?? context.goal.release} was found` };
  const call = await leadCli(sources, context, datastore, file);
  if ('missing' in call) return { notAsked: call.missing };
  const { cluster, because } = await readCliVersion(sources.tools, call);
  const by = [file, 'version', ...call.args].join(' ');
  return cluster === undefined ? { by, because: because ?? 'it did not say' } : { by, value: cluster };
}

/** From the stored v1 group; with native v3 CRDs it is in the v3 group instead. */
async function readRecord(cluster: ClusterReader, { profile }: Context): Promise<VersionAnswer> {
  const { kind, plural, name, versionField } = profile.clusterInformation;
  const of = (group: string, version: string) => cluster.get({ group, version, kind, plural, namespaced: false }, name);
  const found = (await of(profile.crdGroup, 'v1')) ?? (await of(profile.apiGroup, 'v3'));
  const by = `${kind}/${name}`;
  const value = textAt(found, 'spec', versionField);
  return value ? { by, value } : { by, because: found ? `it has no ${versionField}` : 'there is none in the API' };
}

/**
 * Containers of the service in any pod: those with their own manifest (API server, CSI driver, CLI pods) stay old until you upgrade them
 * (domain §12/35). The operator has its own version, and sidecars may be older (§9/7).
 */
export async function readServiceImages(
  cluster: ClusterReader,
  context: Context,
  pods: readonly KubeObject[],
): Promise<readonly ServiceImage[]> {
  const { profile } = context;
  const placed = new Set(serviceNamespaces(profile));
  const pinned = await attempt(() => readPinnedImages(cluster, context));
  // Where nobody may look, a digest tells no release, and the check says so.
  const digests = 'value' in pinned ? pinned.value.map(({ digest }) => digest) : [];
  return pods.flatMap((pod) => {
    if (hasEnded(pod)) return [];
    const { namespace = '', name } = pod.metadata;
    const ours = isOurs(profile, placed.has(namespace));
    return podContainers(pod)
      .filter(({ image }) => ours(image))
      .map(({ name: container, image }) => {
        const release = toldRelease(image, context.goal.release, digests);
        const isCli = isImageOf(image, profile.cli.images);
        return { pod: refText({ kind: 'Pod', namespace, name }), container, image, isCli, ...(release === undefined ? {} : { release }) };
      });
  });
}

/** By name in the service's namespaces, where mirrors are possible; elsewhere also by registry, as `node` is a common name. */
function isOurs({ images, cli, registries }: Profile, placed: boolean): (image: string) => boolean {
  const { sidecar: _sidecar, operator: _operator, ...components } = images;
  const names = [...Object.values(components).flat(), ...cli.images];
  return (image) => isImageOf(image, names) && (placed || isFromRegistry(image, registries));
}

/** By its digest where an ImageSet of the target knows it, else by its tag. */
function toldRelease(image: string, target: string, digests: readonly string[]): string | undefined {
  return imageAge(image, target, digests) === 'of' ? (imageRelease(image) ?? target) : imageRelease(image);
}
