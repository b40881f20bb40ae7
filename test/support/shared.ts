import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Folder with release data beside the repository, used when it is there. */
export const shared = join(import.meta.dirname, '..', '..', '..', 'shared');

/** Release manifests by version, in the layout of an artifact source. */
export const releases = join(shared, 'releases');

/** Our own small manifests with the document's names. */
export const ownReleases = join(import.meta.dirname, '..', '..', 'src', 'sandbox', 'releases');

export const hasReleases = (): boolean => existsSync(releases);

export function manifestFile(release: string, file: string, folder = releases): string {
  return join(folder, release, 'manifests', file);
}
