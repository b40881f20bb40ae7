import type { Context } from '../../kernel/context.ts';
import type { Edit } from '../../kernel/edit.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { or } from '../../kernel/step.ts';
import { storeSettings } from '../../kube/kvstore.ts';
import { sha256Of } from '../../kube/sha256.ts';
import type { CarriedEdits, ToldBy } from '../../manifest/carried-file.ts';
import { keptRules } from '../../manifest/openapi-lists.ts';
import { readOwn, shelfOf } from './base.ts';
import { carriedEdits, withCarried } from './carried.ts';
import { finishedFile } from './finished.ts';
import type { Target } from './identity.ts';
import { readReleasedTarget, targetDocuments } from './target.ts';

declare module '../../kernel/context.ts' {
  interface Options {
    /** Manifest of the installed release, where the artifact source has none (file, or folder of the release layout). */
    readonly base?: string;
    /** The manifest that was installed, with the edits in it. */
    readonly installedManifest?: string;
    /** Endpoints of the key-value store, instead of the installed ones. */
    readonly kvstoreEndpoints?: string;
  }
}

/** Endpoints that were given manually count more than what is installed. */
export function withGiven(documents: readonly KubeObject[], { options, profile }: Context): readonly KubeObject[] {
  const { kvstoreEndpoints } = options;
  return kvstoreEndpoints === undefined ? documents : withEndpoints(documents, profile.datastore.endpointsKey, kvstoreEndpoints);
}

/** An edit that a flag decides is shown with the flag's value, and the installed one beside it. */
export function editsAsGiven(edits: readonly Edit[], { options, profile }: Context): readonly Edit[] {
  const { kvstoreEndpoints } = options;
  const path = `data.${profile.datastore.endpointsKey}`;
  if (kvstoreEndpoints === undefined) return edits;
  return edits.map((edit) => {
    if (edit.ref.kind !== 'ConfigMap' || edit.path !== path || edit.mine === kvstoreEndpoints) return edit;
    return { ...edit, mine: kvstoreEndpoints, note: `Given with --kvstore-endpoints; installed: ${edit.mine}.` };
  });
}

/**
 * The same for a target that is not merged now: given endpoints also replace those that a run began with, or a run with wrong ones could
 * never continue. Throws Fault('usage') if the user's own file has others.
 */
export async function withGivenEndpoints(
  sources: Sources,
  context: Context,
  installation: Installation,
  target: Target,
): Promise<{ readonly target: Target; readonly before?: string }> {
  const { kvstoreEndpoints } = context.options;
  const finished = finishedFile(context);
  const documents = targetDocuments(target);
  const before = storeSettings(documents, context.profile.datastore.endpointsKey, [])?.endpoints;
  if (kvstoreEndpoints === undefined || before === undefined || before === kvstoreEndpoints) return { target };
  if (finished !== undefined) {
    throw new Fault('usage', `--kvstore-endpoints ${kvstoreEndpoints}: ${finished} is applied as it is, and has ${before}`, [
      'write the endpoints into the file, or leave one of the two flags out',
    ]);
  }
  const { carried } = target;
  if (!carried) return { target };
  const released = await readReleasedTarget(sources, context, installation);
  const { edits, base, resolutions, lists } = carried;
  const merged = { documents: withGiven(documents, context), edits: editsAsGiven(edits, context), base, resolutions };
  const given = carriedEdits(released, merged, keptRules(lists));
  return { target: withCarried(released, { ...carried, ...given }), before };
}

/** Checksums of the files that the user names for telling edits; `release` is the one that a folder is asked for. */
export async function readToldBy(sources: Sources, context: Context, installation: Installation, release: string): Promise<ToldBy> {
  const { base, installedManifest } = context.options;
  return {
    ...(base === undefined ? {} : { base: sha256Of((await readOwn(shelfOf(sources, context, installation), base, release)).text) }),
    ...(installedManifest === undefined ? {} : { installedManifest: sha256Of(await sources.files.readText(installedManifest)) }),
  };
}

const FLAGS = { base: '--base', installedManifest: '--installed-manifest' } as const;

/** Edits are found once: a later or changed file would be read for nothing. */
export async function refuseOtherFiles(
  sources: Sources,
  context: Context,
  installation: Installation,
  { told = {}, base }: CarriedEdits,
): Promise<void> {
  const given = await readToldBy(sources, context, installation, base);
  for (const which of ['base', 'installedManifest'] as const) {
    if (given[which] === undefined || given[which] === told[which]) continue;
    const then = told[which] === undefined ? 'without it' : 'by another content of it';
    throw new Fault('usage', `${FLAGS[which]} ${context.options[which]}: this run has begun to write with changes told ${then}`, [
      'leave it out to finish the run, then change the fields themselves',
      or('give your finished target: --upgrade-file FILE --accept NS-206'),
    ]);
  }
}

/** The documents with these endpoints in the ConfigMap that names them. */
export function withEndpoints(documents: readonly KubeObject[], endpointsKey: string, endpoints: string): readonly KubeObject[] {
  return documents.map((one) => {
    const data = one.data as Readonly<Record<string, string>> | undefined;
    if (one.kind !== 'ConfigMap' || data?.[endpointsKey] === undefined) return one;
    return { ...one, data: { ...data, [endpointsKey]: endpoints } };
  });
}
