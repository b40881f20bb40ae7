import { type JsonMap, mapAt } from '../kernel/json.ts';
import type { KubeObject } from '../kernel/object.ts';
import { parseImage, parseRelease } from '../kernel/release.ts';
import { containersIn, recordsIn } from './prepare.ts';

export interface Image {
  /** Registry and path as written: `docker.io/calico/node`. */
  readonly repository: string;
  readonly tag?: string;
  readonly digest?: string;
}

/** Takes an image apart; the port of a registry is no tag. */
export function repositoryAndTag(text: string): Image {
  const { repository, name, ...rest } = parseImage(text);
  return { repository: repository === '' ? name : `${repository}/${name}`, ...rest };
}

/** Another repository with the tag and digest of an image: the same content wherever it is pulled from. */
export function imageText(repository: string, { tag, digest }: Pick<Image, 'tag' | 'digest'>): string {
  return `${repository}${tag === undefined ? '' : `:${tag}`}${digest === undefined ? '' : `@${digest}`}`;
}

/** `calico/cni` and `docker.io/calico/cni` are one repository: the default registry need not be written. */
export function canonicalRepository(repository: string): string {
  return repository.replace(/^(index\.)?docker\.io\//, '');
}

/** One name for a release's image on either of its two public registries, as the default moved between them (§11). */
export function imageKey(repository: string): string {
  return repository.replace(/^((index\.)?docker\.io|quay\.io)\//, '');
}

/** True for tags that say no more than a release; `v3.19.1-m` and `latest` say more. */
export function isReleaseTag({ tag, digest }: Image): boolean {
  return digest === undefined && tag !== undefined && parseRelease(tag)?.suffix === '';
}

/** True for two values of an image field that differ in nothing but which release they name. */
export function isReleaseOfSame(path: string, a: unknown, b: unknown, keyOf = imageKey): boolean {
  if (!path.endsWith('.image') || typeof a !== 'string' || typeof b !== 'string') return false;
  const [one, other] = [repositoryAndTag(a), repositoryAndTag(b)];
  return keyOf(one.repository) === keyOf(other.repository) && isReleaseTag(one) && isReleaseTag(other);
}

/** `reg.example.org/mirror/node` → `reg.example.org/mirror`; '' if there is no path before the name. */
export function folderOf(repository: string): string {
  return repository.slice(0, Math.max(repository.lastIndexOf('/'), 0));
}

export function nameOf(repository: string): string {
  return repository.slice(repository.lastIndexOf('/') + 1);
}

/** Where the user's images come from, learnt from their edits: by repository, and by folder where all images of one moved alike. */
export class ImageMap {
  readonly #repositories = new Map<string, string>();
  readonly #folders = new Map<string, Set<string>>();

  learn(base: Image, mine: Image): void {
    this.#repositories.set(imageKey(base.repository), mine.repository);
    const folder = folderOf(imageKey(base.repository));
    const same = nameOf(base.repository) === nameOf(mine.repository);
    const known = this.#folders.get(folder) ?? new Set();
    this.#folders.set(folder, known.add(same ? folderOf(mine.repository) : ''));
  }

  get isEmpty(): boolean {
    return this.#repositories.size === 0;
  }

  /** The repository from which the user takes such an image; undefined if their edits do not show it. */
  find(repository: string): string | undefined {
    const key = imageKey(repository);
    const known = this.#repositories.get(key);
    if (known !== undefined) return known;
    const folders = [...(this.#folders.get(folderOf(key)) ?? [])];
    return folders.length === 1 && folders[0] ? `${folders[0]}/${nameOf(key)}` : undefined;
  }
}

/** The specification of the pods that an object creates; empty for what has none. */
function podsOf({ kind, spec }: KubeObject): JsonMap {
  if (kind === 'Pod') return mapAt(spec);
  return mapAt(spec, ...(kind === 'CronJob' ? ['jobTemplate', 'spec'] : []), 'template', 'spec');
}

/** Every image that these objects have pulled, as written. */
export function imagesIn(objects: readonly KubeObject[]): readonly string[] {
  return objects.flatMap((object) => {
    const images = containersIn(podsOf(object)).map(({ image }) => image);
    return images.filter((image) => typeof image === 'string' && image !== '') as string[];
  });
}

/** Names of the Secrets that these objects pull with, by namespace; `namespace/name`. */
export function pullSecretsIn(objects: readonly KubeObject[]): readonly string[] {
  return objects.flatMap((object) =>
    recordsIn(podsOf(object).imagePullSecrets).flatMap(({ name }) =>
      typeof name === 'string' ? [`${object.metadata.namespace ?? 'default'}/${name}`] : [],
    ),
  );
}

/** The image with the registry that it is pulled from, as tools outside a cluster need it: `calico/node:v1` is `docker.io/calico/node:v1`. */
export function withRegistry(image: string): string {
  const [first = '', ...rest] = image.split('/');
  if (rest.length === 0) return `docker.io/library/${image}`;
  return /[.:]/.test(first) || first === 'localhost' ? image : `docker.io/${image}`;
}

/** Sorted, each once, with their registries. */
export function imageList(images: readonly string[]): readonly string[] {
  return [...new Set(images.map(withRegistry))].toSorted((a, b) => (a < b ? -1 : 1));
}
