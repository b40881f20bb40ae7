import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { K } from '../../kernel/kinds.ts';
import { type KubeObject, refText } from '../../kernel/object.ts';
import type { PlannedRestart } from '../../kernel/plan.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import { imageRelease, sameRelease } from '../../kernel/release.ts';
import { restartOf } from '../install-manifest/index.ts';
import { eachOf, isImageOf, serviceNamespaces } from '../survey/index.ts';

interface PodTemplateShape {
  readonly spec?: { readonly template?: { readonly spec?: { readonly containers?: readonly { readonly image?: string }[] } } };
}

/** What the new operator will restart, which no manifest of ours tells: workloads of the service that do not run the target yet. */
export async function readRestarts(cluster: Pick<ClusterReader, 'list'>, context: Context): Promise<readonly PlannedRestart[]> {
  const lists = serviceNamespaces(context.profile).flatMap((namespace) =>
    ([K.DaemonSet, K.Deployment] as const).map((kind) => ({ kind, namespace })),
  );
  const found = await eachOf(lists, 4, async ({ kind, namespace }) => {
    const workloads = await cluster.list(kind, { namespace });
    // Items of a list do not always say their kind.
    return workloads.map((one) => ({ ...one, kind: kind.kind })).filter((one) => isOther(one, context));
  });
  return found.flat().flatMap((one) => restartOf(one) ?? []);
}

/** For the plan's notes; none where nothing restarts. */
export function restartNotes(restarts: readonly PlannedRestart[]): readonly string[] {
  const texts = restarts.map(({ ref, pods }) => `${refText(ref)} (${counted(pods, 'pod')})`);
  return texts.length === 0 ? [] : [`the new operator restarts ${texts.join(', ')}`];
}

/** Runs the service, in another release or one that its image does not tell. */
function isOther(workload: KubeObject, { profile, options }: Context): boolean {
  const { agent, controllers, typha, apiserver, csi } = profile.images;
  const own = [...agent, ...controllers, ...typha, ...apiserver, ...csi];
  const images = ((workload as PodTemplateShape).spec?.template?.spec?.containers ?? []).map(({ image = '' }) => image);
  return images.some((image) => isImageOf(image, own) && !sameRelease(imageRelease(image) ?? '', options.release));
}
