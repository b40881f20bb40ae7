import type { FieldChange } from '../kernel/plan.ts';
import { parseRelease } from '../kernel/release.ts';
import { isEntryPath } from './open-maps.ts';
import { sameMeaning } from './same-meaning.ts';

/** Says nothing of a person's intent: the same meaning written differently, or another tag of the same image. */
export function isNoise({ before, after, path }: FieldChange): boolean {
  if (sameMeaning(before, after, isEntryPath(path))) return true;
  if (!isImage(path, before, after)) return false;
  return repositoryOf(String(before)) === repositoryOf(String(after)) && isReleaseTag(String(before)) && isReleaseTag(String(after));
}

function isImage(path: string, ...values: readonly unknown[]): boolean {
  return path.endsWith('.image') && values.every((value) => typeof value === 'string');
}

/** `docker.io/calico/node:v3.27.5` → `calico/node`: the default registry need not be written. */
function repositoryOf(image: string): string {
  return image
    .replace(/@.*$/, '')
    .replace(/:[^/:]*$/, '')
    .replace(/^(docker\.io|index\.docker\.io)\//, '');
}

function isReleaseTag(image: string): boolean {
  const tag = /:([^/:@]+)$/.exec(image)?.[1];
  return tag !== undefined && !image.includes('@') && parseRelease(tag)?.suffix === '';
}
