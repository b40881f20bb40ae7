import type { Context } from '../../kernel/context.ts';
import { eachOf } from '../../kernel/each-of.ts';
import type { Installation } from '../../kernel/installation.ts';
import { textAt } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import { apiVersionOf, type KubeObject, refOf, refText } from '../../kernel/object.ts';
import type { ClusterReader, Sources } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { isOlder, sameRelease } from '../../kernel/release.ts';
import { folderOf, imagesIn, nameOf, repositoryAndTag } from '../../manifest/images.ts';
import { attempt, isImageOf, listServed, readPinnedImages, serviceNamespaces } from '../survey/index.ts';

/** What the operator is going to have its components run, as far as that can be told before it runs. */
export interface OperatedImages {
  readonly images: readonly string[];
  /** What cannot be told, each a sentence. */
  readonly unknown: readonly string[];
}

/** What decides about an image of a component. */
interface Rules {
  readonly release: string;
  readonly installed: string | undefined;
  /** Digests that the cluster's own set of images for the target pins, by the last part of the name. */
  readonly digests: ReadonlyMap<string, string>;
  /** From where and under which names the operator pulls it. */
  readonly repositoryOf: (running: string) => string;
}

/** The operator's images: today's names with the target's tag, from where the Installation or the target takes them. */
export async function readOperatedImages(
  sources: Sources,
  context: Context,
  installation: Installation,
  documents: readonly KubeObject[],
): Promise<OperatedImages> {
  const { profile, goal } = context;
  const [workloads, settings, pinned] = await Promise.all([
    readServiceWorkloads(sources.cluster, context),
    listServed(sources.cluster, apiVersionOf(profile.operator.installationKind), profile.operator.installationKind.kind),
    attempt(() => readPinnedImages(sources.cluster, context)),
  ]);
  const source = imageSource(settings[0], context);
  const digests = new Map('value' in pinned ? pinned.value.map(({ image, digest }) => [nameOf(image), digest]) : []);
  const repositoryOf = (running: string) => repositoryAt(source, running, profile);
  const rules = { release: goal.release, installed: installation.release, digests, repositoryOf };
  const told = workloads.flatMap((workload) => imagesIn([workload]).map((image) => ({ workload, image, next: nextImage(image, rules) })));
  const inOwn = told.filter(({ workload }) => workload.metadata.namespace === profile.operator.workloadNamespace);
  const untold = inOwn.filter(({ next }) => next === undefined).map(({ workload, image }) => `${refText(refOf(workload))} runs ${image}`);
  return {
    images: told.flatMap(({ next }) => next ?? []),
    unknown: [
      ...('unread' in pinned ? [`whether an ImageSet pins images is not known: ${pinned.unread}`] : []),
      `the operator of ${goal.release} chooses the images of its components: listed is what runs today, as ${goal.release}; components that are new in it are not${whoLists(documents, context)}`,
      ...[...new Set(untold)].map(
        (fact) =>
          `${fact}, which is no image of ${installation.release ?? 'a known release'}: what the operator replaces it by is not known`,
      ),
    ],
  };
}

/** Its own program knows them all, and starts wherever its image can be pulled. */
function whoLists(documents: readonly KubeObject[], { profile: { operator } }: Context): string {
  const deployment = documents.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === operator.deployment);
  const [image] = deployment ? imagesIn([deployment]) : [];
  if (!image || !operator.imageListArgs) return '';
  const pod = ['kubectl', 'run', 'operator-images', '--rm', '-i', '--quiet', '--restart=Never', `--image=${image}`, '--'];
  return `. The operator itself lists all images that it may use: ${[...pod, ...operator.imageListArgs].join(' ')}`;
}

/** The registry that the user set for the components; `UseDefault` asks by name for the operator's own. */
export function registryOf(installation: KubeObject | undefined): string | undefined {
  return setIn(installation, 'registry');
}

function setIn(installation: KubeObject | undefined, field: string): string | undefined {
  const value = textAt(installation, 'spec', field) ?? '';
  return ['', 'UseDefault'].includes(value) ? undefined : value;
}

/** From where an operator pulls the images of its components, and what it sets before their names. */
export interface ImageSource {
  readonly folder: string;
  readonly prefix: string;
}

/** By the Installation, field by field, else the registry and the folder of the target; undefined where the profile knows neither. */
export function imageSource(
  installation: KubeObject | undefined,
  { profile, goal }: Pick<Context, 'profile' | 'goal'>,
): ImageSource | undefined {
  const move = profile.registryMove;
  if (!move) return undefined;
  const own = isOlder(goal.release, move.since) ? move.from : move.to;
  const parts = [setIn(installation, 'registry') ?? folderOf(own), setIn(installation, 'imagePath') ?? nameOf(own)];
  return { folder: parts.map((part) => part.replaceAll(/^\/+|\/+$/g, '')).join('/'), prefix: setIn(installation, 'imagePrefix') ?? '' };
}

/** Mirrors may have given it another name, which the operator does not keep. */
function repositoryAt(source: ImageSource | undefined, running: string, { images }: Profile): string {
  const name = nameOf(running);
  if (!source) return running;
  if (source.prefix !== '' && name.startsWith(source.prefix)) return `${source.folder}/${name}`;
  const [known = name] = Object.values(images).find((names) => isImageOf(name, names)) ?? [];
  return `${source.folder}/${source.prefix}${known}`;
}

function nextImage(image: string, { release, installed, digests, repositoryOf }: Rules): string | undefined {
  const { repository, tag } = repositoryAndTag(image);
  const pinned = [...digests].find(([name]) => nameOf(repository).endsWith(name));
  const isReleased = tag !== undefined && installed !== undefined && sameRelease(tag, installed);
  const isTarget = tag !== undefined && sameRelease(tag, release);
  if (!pinned && !isReleased && !isTarget) return undefined;
  const next = repositoryOf(repository);
  // What the operator adds to the tag of its components where the Installation asks for FIPS mode (domain §3).
  return pinned ? `${next}@${pinned[1]}` : `${next}:${release}${tag?.endsWith('-fips') ? '-fips' : ''}`;
}

/** Whatever runs where the service's workloads do. */
export async function readServiceWorkloads(cluster: Pick<ClusterReader, 'list'>, { profile }: Context): Promise<readonly KubeObject[]> {
  const places = serviceNamespaces(profile).flatMap((namespace) => [K.DaemonSet, K.Deployment].map((kind) => ({ kind, namespace })));
  return (await eachOf(places, 4, ({ kind, namespace }) => cluster.list(kind, { namespace }))).flat();
}
