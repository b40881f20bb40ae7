import type { Context } from '../core/context.ts';
import type { Sources } from '../core/ports.ts';
import { manifestOf } from '../merge/artifact-manifest.ts';
import type { Manifest } from '../merge/manifest.ts';

/** The CRDs of the target release, which have a file of their own for the paths with an operator (§4.2, §4.3). */
export interface CrdManifest {
  /** Its name in the work folder. */
  readonly file: string;
  readonly url: string;
  readonly sha256: string;
  readonly manifest: Manifest;
}

export async function readCrdManifest({ artifacts }: Pick<Sources, 'artifacts'>, { profile, options }: Context): Promise<CrdManifest> {
  const file = profile.crdFile;
  const artifact = await artifacts.fetch(options.release, `manifests/${file}`);
  return { file, url: artifact.url, sha256: artifact.sha256, manifest: manifestOf(artifact) };
}
