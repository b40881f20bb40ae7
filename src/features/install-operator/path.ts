import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { ClusterReader, Sources } from '../../kernel/ports.ts';
import { objectsIn } from '../../manifest/manifest.ts';
import {
  findCrds,
  findOwnTarget,
  gitDocuments,
  imageDocuments,
  joinedTarget,
  ownFiles,
  readCrdManifest,
  writtenDocuments,
} from '../install-manifest/index.ts';
import { operatorScope } from '../rights/index.ts';
import { attempt, eitherWay, type TargetFacts } from '../survey/index.ts';
import { operatorForward, operatorImage } from './apply.ts';
import { operatorBack } from './apply-back.ts';
import { GIT_WITHOUT_CRDS, operatorCrds, withoutCrds } from './crds.ts';
import { lagsWith, operatorEnd, operatorsWork } from './end.ts';
import { readMissingFlowLogs } from './flow-logs.ts';
import { holdUndo } from './hold-undo.ts';
import { readOperatedImages } from './operated-images.ts';

/** Installed by the operator's manifest. The CRDs have a file of their own. */
export const operatorPath = {
  apply: eitherWay(operatorForward, operatorBack),
  undo: holdUndo,
  writesAgents: false,
  crds: operatorCrds,
  end: operatorEnd(operatorImage),
  apiWaits: operatorsWork(operatorImage),
  lags: lagsWith(operatorImage),
  async judgedTarget(...[sources, context, installation, merge]: Parameters<typeof findOwnTarget>) {
    const own = await findOwnTarget(sources, context, installation, merge);
    return context.goal.takesBack ? own : joinedTarget(own, await findCrds(sources, context, installation));
  },
  files: (context: Context, installation: Installation) => [...ownFiles(context, installation), context.profile.crdFile],
  async written(sources: Sources, context: Context, installation: Installation): Promise<readonly KubeObject[]> {
    const own = writtenDocuments(sources, context, installation);
    // The older operator puts back CRDs by itself: nothing here writes any.
    if (context.goal.takesBack) return own;
    const { manifest } = await readCrdManifest(sources, context, installation);
    return [...(await own), ...objectsIn(manifest)];
  },
  /** `--enable-flow-logs`: a release without them is refused by `apply`. */
  async asked(
    cluster: ClusterReader,
    context: Context,
    target: TargetFacts,
    { restoresCrds }: Installation,
  ): Promise<readonly KubeObject[]> {
    const missing = await attempt(() => readMissingFlowLogs({ cluster }, context, target));
    const own = restoresCrds ? withoutCrds(target.documents) : target.documents;
    return [...own, ...('value' in missing ? missing.value : [])];
  },
  images: (sources: Sources, context: Context, installation: Installation) =>
    withOperated(() => imageDocuments(sources, context, installation), sources, context, installation),
  async inGit(sources: Sources, context: Context, installation: Installation) {
    const { objects, removed, notes } = await gitDocuments(sources, context, installation);
    if (context.goal.takesBack) return { objects, removed, notes };
    const { restoresCrds } = installation;
    const { manifest, url } = await readCrdManifest(sources, context, installation);
    const documents = objectsIn(manifest);
    // The Installation and the other custom resources are not changed: only what is newly asked for is written.
    const flowLogs = await readMissingFlowLogs(sources, context, { documents, url });
    if (restoresCrds) return { objects: [...objects, ...flowLogs], removed, notes: [...notes, GIT_WITHOUT_CRDS] };
    return { objects: [...documents, ...objects, ...flowLogs], removed, notes };
  },
  scope: operatorScope,
  roleFlags: ({ path }: Installation) => ['--path', path],
};

/** The operator chooses all images but its own. */
export async function withOperated(
  read: () => Promise<{ readonly documents: readonly KubeObject[]; readonly unknown: readonly string[] }>,
  ...[sources, context, installation]: readonly [Sources, Context, Installation]
) {
  const { documents, unknown } = await read();
  const operated = await readOperatedImages(sources, context, installation, documents);
  return { documents, images: operated.images, unknown: [...unknown, ...operated.unknown] };
}
