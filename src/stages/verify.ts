import { type VerifyFacts, verifyChecks } from '../checks/verify.ts';
import type { Context } from '../core/context.ts';
import type { Installation } from '../core/installation.ts';
import { K } from '../core/kinds.ts';
import { type KubeObject, refOf, refText } from '../core/object.ts';
import type { Sources } from '../core/ports.ts';
import { sameMinor } from '../core/release.ts';
import { stage } from '../core/stage.ts';
import { imageRelease, isImageOf } from '../detect/images.ts';
import { findLeftovers } from '../merge/leftovers.ts';
import { readClis, readCliVersion } from './cli-release.ts';
import { readInstalled } from './installed.ts';
import { oldImages } from './old-images.ts';
import { attempt, attemptWith, eachOf } from './reading.ts';
import { readNodes, readRollouts } from './rollout-state.ts';
import { readOwners } from './survey-owners.ts';
import { readTarget, type Target, variantOf } from './target.ts';
import { targetsOf } from './wait.ts';

/** Proves the result (§4.4/5, §9): versions, pods, leftovers, references; changes nothing. */
export const verifyStage = stage<VerifyFacts>({
  id: 'verify',
  title: 'Verify the result',
  ref: '§4.4/5',
  paths: ['chart', 'operator', 'manifest', 'kvstore'],
  readOnly: true,
  judgesResult: true,
  checks: verifyChecks,
  survey: readVerifyFacts,
  plan: () => ({ actions: [] }),
});

async function readVerifyFacts(sources: Sources, context: Context): Promise<VerifyFacts> {
  const { cluster, tools } = sources;
  const installed = await attempt(() => readInstalled(sources, context));
  const target = await attemptWith(installed, (installation) => readTargetIfAny(sources, context, installation));
  const clis = await attempt(() => readClis(tools, context.profile));
  const owners = await attempt(() => readOwners(cluster, context.profile));
  const [clusterVersion, images, rollouts, leftovers, leftBehind, temporaryPolicies, ownerUids] = await Promise.all([
    attemptWith(clis, (found) => readClusterVersion(sources, context, found)),
    attempt(() => readImages(sources, context)),
    attemptWith(target, (one) => (one ? readRolloutsOf(sources, context, one) : Promise.resolve([]))),
    attemptWith(target, (one) => (one ? readLeftovers(sources, context, one.target) : Promise.resolve([]))),
    attempt(() => readLeftBehind(sources, context)),
    attempt(() => readTemporaryPolicies(sources, context)),
    attemptWith(owners, ({ dependents }) =>
      dependents.length === 0 ? Promise.resolve(new Set<string>()) : readOwnerUids(sources, context),
    ),
  ]);
  return { clusterVersion, images, rollouts, leftovers, leftBehind, temporaryPolicies, owners, ownerUids, clis };
}

interface Aim {
  readonly target: Target;
  readonly variant: string;
}

/** Undefined on paths without a full manifest: what only it can tell does not apply there. */
async function readTargetIfAny(sources: Sources, context: Context, installation: Installation): Promise<Aim | undefined> {
  if (installation.path !== 'manifest' && installation.path !== 'kvstore') return undefined;
  return { target: await readTarget(sources, context, installation), variant: variantOf(context, installation).id };
}

type Clis = readonly { readonly file: string; readonly release?: string }[];

async function readClusterVersion(sources: Sources, { profile, options }: Context, clis: Clis) {
  const fresh = clis.find(({ release }) => release !== undefined && sameMinor(release, options.release));
  if (fresh) {
    const { cluster, because } = await readCliVersion(sources.tools, fresh.file);
    const by = `${fresh.file} version`;
    return cluster === undefined ? { by, because: because ?? 'it did not say' } : { by, value: cluster };
  }
  const { kind, name, versionField } = profile.clusterInformation;
  const by = `${kind}/${name}; no ${profile.cli.program} of the new release was found to ask`;
  const resource = await sources.cluster.resolve(`${profile.crdGroup}/v1`, kind);
  const information = resource ? await sources.cluster.get(resource, name) : undefined;
  const value = (information?.spec as Readonly<Record<string, unknown>> | undefined)?.[versionField];
  return typeof value === 'string' ? { by, value } : { by, because: `${kind}/${name} has no ${versionField}` };
}

interface PodImages {
  readonly spec?: {
    readonly containers?: readonly { readonly image: string }[];
    readonly initContainers?: readonly { readonly image: string }[];
  };
}

/** Containers of the service in any pod of the cluster: what has a manifest of its own stays old unless somebody upgrades it. */
async function readImages({ cluster }: Sources, { profile }: Context) {
  const { sidecar: _sidecar, operator: _operator, ...components } = profile.images;
  const names = [...Object.values(components).flat(), ...profile.cli.images];
  const pods = await cluster.list(K.Pod);
  return pods.flatMap((pod) => {
    const { spec } = pod as PodImages;
    const images = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].map((container) => container.image);
    return images
      .filter((image) => isImageOf(image, names))
      .map((image) => {
        const release = imageRelease(image);
        return { pod: refText({ kind: 'Pod', ...pod.metadata }), image, ...(release ? { release } : {}) };
      });
  });
}

async function readRolloutsOf(sources: Sources, context: Context, { target, variant }: Aim) {
  return readRollouts(sources, targetsOf(context, target, variant), await readNodes(sources));
}

async function readLeftovers({ cluster }: Sources, context: Context, target: Target) {
  const documents = [target.manifest, ...target.addOns.map((addOn) => addOn.manifest)].flatMap((one) =>
    one.documents.map(({ object }) => object),
  );
  const workloads = documents.filter(({ kind }) => kind === 'DaemonSet' || kind === 'Deployment');
  const isOld = oldImages(context);
  const found = await eachOf(workloads, 4, async (document) => {
    const live = await cluster.get(
      document.kind === 'DaemonSet' ? K.DaemonSet : K.Deployment,
      document.metadata.name,
      document.metadata.namespace,
    );
    const left = live && findLeftovers(live, document, context.profile, isOld);
    return left ? [{ object: refText(refOf(document)), names: left.names }] : [];
  });
  return found.flat();
}

async function readLeftBehind({ cluster }: Sources, { profile }: Context) {
  const found = await eachOf(profile.removedKinds, 4, async ({ group, plural, kind }) => {
    const name = `${plural}.${group}`;
    const crd = await cluster.get(K.CustomResourceDefinition, name);
    if (!crd) return [];
    const { kinds } = await cluster.discover();
    const resource = kinds.find((one) => one.group === group && one.kind === kind);
    return [{ name, objects: resource ? (await cluster.list(resource, { metadataOnly: true })).length : 0 }];
  });
  return found.flat();
}

/** Stored under its own name, or with the prefix of releases before the renaming. */
async function readTemporaryPolicies({ cluster }: Sources, { profile }: Context): Promise<readonly KubeObject[]> {
  const { kinds } = await cluster.discover();
  const resource = kinds.find(({ group, plural }) => group === profile.crdGroup && plural === 'globalnetworkpolicies');
  if (!resource) return [];
  const names = [profile.temporaryPolicy, `${profile.policyRenaming?.prefix ?? 'default.'}${profile.temporaryPolicy}`];
  const found = await Promise.all(names.map((name) => cluster.get(resource, name)));
  return found.filter((one) => one !== undefined);
}

/** UIDs that owners have now: of the stored resources and of those that the v3 API serves. */
async function readOwnerUids({ cluster }: Sources, { profile }: Context): Promise<ReadonlySet<string>> {
  const { kinds } = await cluster.discover();
  const groups = new Set([profile.apiGroup, profile.crdGroup]);
  const lists = await eachOf(
    kinds.filter(({ group }) => groups.has(group)),
    6,
    (kind) => cluster.list(kind, { metadataOnly: true }),
  );
  return new Set(lists.flat().map(({ metadata }) => metadata.uid ?? ''));
}
