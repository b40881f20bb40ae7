import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { identityOf } from '../../manifest/prepare.ts';
import { readInstalledManifest } from './edits.ts';
import { finishedFile } from './finished.ts';
import { readMergedTarget } from './merged.ts';
import { readTarget, targetDocuments } from './target.ts';

/** What the upgrade writes, each object by its first document: what the user's file adds is applied as well. */
export async function writtenDocuments(sources: Sources, context: Context, installation: Installation): Promise<readonly KubeObject[]> {
  const target = await readTarget(sources, context, installation);
  const file = finishedFile(context) === undefined ? await readInstalledManifest(sources, context, installation) : undefined;
  const documents = [...targetDocuments(target), ...(file ?? [])];
  return [...new Map(documents.toReversed().map((one) => [identityOf(one), one])).values()].toReversed();
}

/** The target as far as its images go; `unknown`: what it does not tell, each a sentence. */
export async function imageDocuments(sources: Sources, context: Context, installation: Installation) {
  const { target, edits } = await readMergedTarget(sources, context, installation, await sources.records.load());
  const documents = targetDocuments(target);
  if ('unread' in edits) {
    const help = context.goal.takesBack ? '' : '; the release’s own manifest, unedited, can be given with --base';
    return { documents, unknown: [`your changes are not in the list: ${edits.unread}${help}`] };
  }
  // By the path: what is decided for all images of a registry at once has a name of its own.
  const open = edits.value.conflicts.filter(({ path }) => /\.image$/.test(path)).map(({ field }) => field);
  return { documents, unknown: open.map((field) => `${field} is still to be decided: listed is what the target has there`) };
}

/** As it is applied. `removed`: Secrets of the release that its merged file leaves out, since the cluster's are filled. */
export async function gitDocuments(sources: Sources, context: Context, installation: Installation) {
  const { target } = await readMergedTarget(sources, context, installation, await sources.records.load());
  const identities = Object.values(target.carried?.files ?? {}).flatMap((file) => file.removed);
  const removed = identities.flatMap((identity): readonly KubeObject[] => {
    const [group, kind = '', namespace = '', name = ''] = identity.split('|');
    const object = { apiVersion: 'v1', kind, metadata: { name, namespace } };
    return group === '' && kind === 'Secret' ? [object] : [];
  });
  return { objects: targetDocuments(target), removed, notes: [] };
}
