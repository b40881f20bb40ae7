/**
 * True if both references name the same image of the same tag. The registry may be another one and a digest may be added: admission
 * rewrites that for mirrors, in pods or in the workload itself, and what was asked for still runs.
 */
export function isSameImage(one: string, other: string): boolean {
  if (one === other) return true;
  const [a, b] = [taggedName(one), taggedName(other)];
  return a !== undefined && a === b;
}

/** `node:v3.32.2`; undefined without a tag: a digest alone tells no release. */
function taggedName(image: string): string | undefined {
  const located = image.replace(/@.*$/, '');
  const last = located.slice(located.lastIndexOf('/') + 1);
  return last.includes(':') ? last : undefined;
}
