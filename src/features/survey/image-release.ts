import { parseImage } from '../../kernel/release.ts';

/** True if the last path segment is one of the names. */
export function isImageOf(image: string, names: readonly string[]): boolean {
  return names.includes(parseImage(image).name);
}

/** True if the image lies in one of the registries (`quay.io/calico`, `calico`), or below it. */
export function isFromRegistry(image: string, registries: readonly string[]): boolean {
  const { repository } = parseImage(image);
  return registries.some((registry) => repository === registry || repository.startsWith(`${registry}/`));
}
