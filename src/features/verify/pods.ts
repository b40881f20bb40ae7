import type { Context } from '../../kernel/context.ts';
import { K } from '../../kernel/kinds.ts';
import { refText } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { imageAge, imageRelease } from '../../kernel/release.ts';
import { hasEnded, type PodContainer, podContainers } from '../../kube/pod-facts.ts';
import { readPinnedImages } from '../install-operator/index.ts';
import { attempt, isFromRegistry, isImageOf, serviceNamespaces } from '../survey/index.ts';
import type { ServiceImage } from './facts.ts';

/**
 * Containers of the service in any pod of the cluster: what has a manifest of its own (API server, CSI driver, CLI pods)
 * stays old unless somebody upgrades it (domain §12/35). The operator counts for itself, and sidecars may be older (§9/7).
 */
export async function readServiceImages(cluster: ClusterReader, context: Context): Promise<readonly ServiceImage[]> {
  const { profile } = context;
  const placed = new Set(serviceNamespaces(profile));
  const [pods, pinned] = await Promise.all([cluster.list(K.Pod), attempt(() => readPinnedImages(cluster, context))]);
  // Where nobody may look, a digest tells no release, and the check says so.
  const digests = 'value' in pinned ? pinned.value.map(({ digest }) => digest) : [];
  const told = (image: string) => toldRelease(image, context.options.release, digests);
  return pods.flatMap((pod) => {
    if (hasEnded(pod)) return [];
    const { namespace = '', name } = pod.metadata;
    const ours = isOurs(profile, placed.has(namespace));
    return podContainers(pod)
      .filter(({ image }) => ours(image))
      .map((container) => serviceImage(refText({ kind: 'Pod', namespace, name }), container, profile, told(container.image)));
  });
}

/** By name in the service's own namespaces, where images may come from a mirror; elsewhere by registry too: `node` is a common name. */
function isOurs({ images, cli, registries }: Profile, placed: boolean): (image: string) => boolean {
  const { sidecar: _sidecar, operator: _operator, ...components } = images;
  const names = [...Object.values(components).flat(), ...cli.images];
  return (image) => isImageOf(image, names) && (placed || isFromRegistry(image, registries));
}

function serviceImage(pod: string, { name, image }: PodContainer, { cli }: Profile, release: string | undefined): ServiceImage {
  return { pod, container: name, image, isCli: isImageOf(image, cli.images), ...(release === undefined ? {} : { release }) };
}

/** By its digest where an ImageSet of the target knows it, else by its tag. */
function toldRelease(image: string, target: string, digests: readonly string[]): string | undefined {
  return imageAge(image, target, digests) === 'of' ? (imageRelease(image) ?? target) : imageRelease(image);
}
