import type { Check, Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { eachOf } from '../../kernel/each-of.ts';
import { Fault } from '../../kernel/fault.ts';
import { type Datastore, hasFullManifest, type Installation, isKeyValue } from '../../kernel/installation.ts';
import type { Lacking } from '../../kernel/journal.ts';
import { K } from '../../kernel/kinds.ts';
import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import type { ClusterReader, Sources } from '../../kernel/ports.ts';
import { isOlder } from '../../kernel/release.ts';
import type { RolloutProgress, RolloutTarget, WorkloadName } from '../../kernel/rollout.ts';
import { recordHere } from '../../kernel/run-record.ts';
import type { NodeFacts } from '../../kube/pod-facts.ts';
import { isMarked, isOnDelete, isStillHeld, readOwnStrategies } from '../canary/index.ts';
import type { NameProblem } from '../going-back/index.ts';
import { upgradeWaits } from '../install/index.ts';
import { leftoversIn, ownFile, readTarget, type Target, targetsOf } from '../install-manifest/index.ts';
import type { OperatorLag } from '../install-operator/index.ts';
import { type IpamFault, newFaults, notedNode, readIpam, readKeptIpam } from '../ipam/index.ts';
import { lackingOf, type OwnersFollowed, readRestoreFacts } from '../ownerrefs/index.ts';
import { storedKind, temporaryPolicies } from '../policies/index.ts';
import { neededTarget, type OtherPodsJudged, readNodes, readRollouts, rolloutTarget } from '../rollout/index.ts';
import { cliList, findServiceCli } from '../service-cli/index.ts';
import { attempt } from '../survey/index.ts';

/** Undefined on paths without a full manifest: there the operator decides what its workloads become. */
export async function readTargetIfAny(sources: Sources, context: Context, installation: Installation): Promise<Target | undefined> {
  return hasFullManifest(installation) ? readTarget(sources, context, installation) : undefined;
}

/** Against the target's own documents; on the operator's paths against what the operator rendered (NS-302 evaluates its release). */
export async function readResult(
  sources: Sources,
  context: Context,
  installation: Installation,
  target: Target | undefined,
  nodes?: readonly NodeFacts[],
): Promise<readonly RolloutProgress[]> {
  const targets = target
    ? targetsOf(context, target, ownFile(context, installation).variant.id)
    : await renderedTargets(sources.cluster, context);
  return readRollouts(sources, targets, nodes ?? (await readNodes(sources)));
}

async function renderedTargets(cluster: ClusterReader, { profile }: Context): Promise<readonly RolloutTarget[]> {
  const { agent, controllers, typha } = profile.operator;
  const names: readonly WorkloadName[] = [agent, ...(typha ? [typha] : []), controllers];
  const found = await eachOf(names, 3, async (name) => {
    const live = await cluster.get(K[name.kind], name.name, name.namespace);
    return live ? (name === typha ? rolloutTarget : neededTarget)(name, { documents: [live] }) : undefined;
  });
  return found.filter((one) => one !== undefined);
}

/**
 * Agents of a manifest, where their update strategy is one that a run gave them for a while and nobody is at work to put it back. For an
 * account that may not look at the run, by our mark alone.
 */
export async function readStrategyLeft(
  { cluster, lock, records }: Pick<Sources, 'cluster' | 'lock' | 'records'>,
  context: Context,
  installation: Installation,
): Promise<readonly KubeObject[]> {
  const { name, namespace } = ownFile(context, installation).variant.agent;
  const live = await cluster.get(K.DaemonSet, name, namespace);
  if (!live || !(isMarked(live) || isOnDelete(live))) return [];
  const isOurs = await attempt(async () => {
    const holder = await lock.holder();
    if (holder && holder.identity !== lock.identity) return false;
    return isMarked(live) || isStillHeld(live, await readOwnStrategies(records, await records.load(), context, [live]));
  });
  return ('value' in isOurs ? isOurs.value : isMarked(live)) ? [live] : [];
}

/** What old releases had and the target's workloads have not. */
export async function readLeftovers(cluster: ClusterReader, context: Context, target: Target) {
  const documents = [target.manifest, ...target.addOns.map(({ manifest }) => manifest)].flatMap((manifest) =>
    manifest.documents.map(({ object }) => object),
  );
  const leftoversOf = leftoversIn(context);
  const found = await eachOf(
    documents.filter(({ kind }) => kind === 'DaemonSet' || kind === 'Deployment'),
    4,
    async (document) => {
      const { name, namespace } = document.metadata;
      const live = await cluster.get(document.kind === 'DaemonSet' ? K.DaemonSet : K.Deployment, name, namespace);
      const names = live ? leftoversOf(live, document).map((one) => one.name) : [];
      return names.length > 0 ? [{ object: refText(refOf(document)), names }] : [];
    },
  );
  return found.flat();
}

/** CRDs of kinds that the target no longer has, with the number of objects that each still holds. */
export async function readLeftBehind(cluster: ClusterReader, { profile, goal }: Context) {
  const removed = profile.removedKinds.filter(({ since }) => !isOlder(goal.release, since));
  const found = await eachOf(removed, 4, async ({ group, plural }) => {
    const name = `${plural}.${group}`;
    if (!(await cluster.get(K.CustomResourceDefinition, name))) return [];
    const resource = await storedKind(cluster.discover(), [group], plural);
    return [{ name, objects: resource ? (await cluster.list(resource, { metadataOnly: true })).length : 0 }];
  });
  return found.flat();
}

/** In the stored v1 group, or with native v3 CRDs in the v3 group; in key-value mode as the CLI lists them (§4.5/6). Throws Fault if it cannot be asked. */
export async function readTemporaryPolicies(sources: Sources, context: Context, datastore: Datastore): Promise<readonly KubeObject[]> {
  const { cluster } = sources;
  const { profile } = context;
  if (isKeyValue({ datastore })) {
    const call = await findServiceCli(sources, context, datastore);
    if ('missing' in call) throw new Fault('failed', call.missing, []);
    return temporaryPolicies(await cliList(sources, call, 'globalnetworkpolicies'), profile);
  }
  const resource = await storedKind(cluster.discover(), [profile.crdGroup, profile.apiGroup], 'globalnetworkpolicies');
  return resource ? temporaryPolicies(await cluster.list(resource), profile) : [];
}

/** States of a stage that came to its end. */
const ENDED: readonly string[] = ['done', 'skipped'];

/**
 * Objects whose references are recorded as removed and not yet put back (§4.8/3). They are looked at even without a record, as a restore
 * with nothing to do writes none.
 */
export async function readStillOff(sources: Sources, context: Context): Promise<StillOff> {
  const { journal: store, records } = sources;
  const [journal, record] = await Promise.all([store.load(), records.load()]);
  const lacking = lackingOf(record, journal, context);
  if (!journal) return { objects: 0, ...lacking };
  const [strip, restore] = ['ownerrefs-strip', 'ownerrefs-restore'].map((id) => record?.stages.find((one) => one.id === id));
  const isBack = restore?.endedAt !== undefined && ENDED.includes(restore.state) && restore.endedAt >= (strip?.endedAt ?? '');
  if (isBack) return { objects: 0, ...lacking };
  const facts = await attempt(() => readRestoreFacts(sources, context, upgradeWaits));
  // What cannot be looked at counts as off.
  if ('unread' in facts) return { objects: journal.entries.length, ...lacking };
  const { isLater, waits, outstanding } = facts.value;
  return { objects: isLater || waits.length > 0 ? journal.entries.length : outstanding, ...lacking };
}

/** What one source says about the cluster's version: a value, or why it has none. */
export interface VersionAnswer {
  /** Who was asked: `/usr/local/bin/calicoctl version`. */
  readonly by: string;
  /** As printed. */
  readonly value?: string;
  readonly because?: string;
}

export interface ClusterVersionFacts {
  /** The new CLI; undefined if none could be asked, with the reason. */
  readonly cli: VersionAnswer | { readonly notAsked: string };
  /** The cluster's own record in the API. */
  readonly record: Reading<VersionAnswer>;
}

export interface ServiceImage {
  /** `Pod/kube-system/calico-node-x` */
  readonly pod: string;
  readonly container: string;
  readonly image: string;
  /** Undefined for a digest and for tags that are no release. */
  readonly release?: string;
  /** The service's CLI in a pod: it does no work of the cluster. */
  readonly isCli: boolean;
}

/** The bookkeeping of addresses now, against what the run kept of it before its first write. */
export interface IpamCompared {
  readonly blocks: number;
  readonly added: readonly IpamFault[];
  readonly uncompared: readonly IpamFault['kind'][];
}

/** Undefined where this run kept nothing to compare with: then nothing is asked. */
export async function readIpamCompared(
  { cluster, records }: Sources,
  context: Context,
  installation: Installation,
  pods: readonly KubeObject[],
): Promise<IpamCompared | undefined> {
  const record = recordHere(await records.load(), context);
  const before = await readKeptIpam(records, record);
  if (!before) return undefined;
  const nodes = cluster.list(K.Node, { metadataOnly: true, keep: notedNode });
  const names = new Set(pods.map(({ metadata: { namespace = '', name } }) => `${namespace}/${name}`));
  const now = await readIpam(cluster, context, installation, async () => ({ nodes: await nodes, pods: names }));
  if (!now) return undefined;
  const { faults, uncompared } = newFaults(before, now, await nodes);
  return { blocks: now.blocks, added: faults, uncompared };
}

/** The result of the upgrade, as the checks of `verify` see it. */
export interface VerifyFacts extends OtherPodsJudged {
  readonly datastore: Reading<Datastore>;
  readonly clusterVersion: ClusterVersionFacts;
  /** Every container of the service in the cluster, whatever manifest it came from. */
  readonly images: Reading<readonly ServiceImage[]>;
  readonly rollouts: Reading<readonly RolloutProgress[]>;
  /** What replaces the pods that are still old, where no wait does: `held` and `stopped`, once the user continues; `run`, once it is resumed. */
  readonly onward?: 'held' | 'stopped' | 'run' | undefined;
  /** What events and logs say of pods that keep a rollout from its end; read only where one is not done. */
  readonly reasons: readonly string[];
  /** What lags by the rule for the end of an upgrade by the operator; undefined on other paths. */
  readonly operator: Reading<readonly OperatorLag[] | undefined>;
  /** What this program still holds back from the operator; undefined where nothing can be. */
  readonly held: Reading<readonly KubeObject[] | undefined>;
  /** Undefined on paths without a full manifest to compare with. */
  readonly leftovers: Reading<readonly { readonly object: string; readonly names: readonly string[] }[] | undefined>;
  /** CRDs that the target no longer has, and how many objects each still holds. */
  readonly leftBehind: Reading<readonly { readonly name: string; readonly objects: number }[]>;
  readonly temporaryPolicies: Reading<readonly KubeObject[]>;
  readonly owners: Reading<OwnersFollowed>;
  readonly stillOff: Reading<StillOff>;
  /** What the older release misses of what was written meanwhile; undefined but in a rollback. */
  readonly missed: Reading<readonly NameProblem[] | undefined>;
  readonly ipam: Reading<IpamCompared | undefined>;
  /** CLIs on PATH. */
  readonly clis: Reading<readonly { readonly file: string; readonly release?: string }[]>;
}

/** References that were removed, and wait. */
export interface StillOff {
  /** Objects whose references are recorded as removed, if putting them back has not ended since. */
  readonly objects: number;
  /** What the run record says that was removed, where the journal does not hold it. */
  readonly lacking?: Lacking;
}

export type VerifyCheck = Check<VerifyFacts>;
