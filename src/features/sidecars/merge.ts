import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { parseImage } from '../../kernel/release.ts';
import { mergeText, type TextConflict } from '../../manifest/sequences.ts';

/** The data that the ConfigMap shall have, or why the user's edits cannot be carried. */
export type Merged = { readonly data: Readonly<Record<string, string>>; readonly edited: boolean } | { readonly detail: string };

/** Keys that only the cluster has stay; a key of both is merged line by line. Without a base nothing but the sidecar's tag may differ. */
export function mergeData(mine: Data, base: Data | undefined, theirs: Data, context: Context): Merged {
  const data: Record<string, string> = { ...mine };
  let edited = false;
  for (const [key, fresh] of Object.entries(theirs)) {
    const own = mine[key];
    const before = base?.[key];
    if (own === undefined || retagged(own, fresh, context) === fresh) data[key] = fresh;
    else if (before === undefined) return { detail: `${key}: no template of its release is known, so your edits cannot be told` };
    else {
      const result = mergeText(before, own, fresh);
      if ('conflicts' in result) return { detail: conflictText(key, result.conflicts, { mine: 'yours', theirs: "the target's" }) };
      data[key] = result.text;
      edited ||= result.text !== fresh;
    }
  }
  return { data, edited };
}

/**
 * What the file says besides the data: the template's value unless the user set another, and what was applied before, which kubectl would
 * remove. The rest stays, and is not noted as applied: a later file would remove it.
 */
export function mergeMarks(mine: Data, base: Data, theirs: Data, applied: readonly string[]): Data {
  const fresh = Object.entries(theirs).filter(([key]) => mine[key] === undefined || mine[key] === base[key]);
  const noted = Object.entries(mine).filter(([key]) => applied.includes(key));
  return { ...Object.fromEntries(noted), ...Object.fromEntries(fresh) };
}

/** `data` of a ConfigMap. */
export type Data = Readonly<Record<string, string>>;

/** The text with the sidecar's images of the other: what an unedited one of another release would be, if nothing else changed. */
function retagged(text: string, like: string, { profile }: Context): string {
  const images = [...like.matchAll(/image:\s*["']?([^\s"']+)/g)].map(([, image = '']) => image);
  const target = images.find((image) => profile.images.sidecar.includes(parseImage(image).name));
  if (target === undefined) return text;
  return text.replaceAll(/(image:\s*["']?)([^\s"']+)/g, (all, before: string, image: string) =>
    profile.images.sidecar.includes(parseImage(image).name) ? `${before}${target}` : all,
  );
}

/** The first place, in words; `mine` and `theirs` are how the user calls the two sides. */
export function conflictText(
  key: string,
  [first, ...more]: readonly TextConflict[],
  { mine, theirs }: { readonly mine: string; readonly theirs: string },
): string {
  const rest = more.length > 0 ? ` and ${counted(more.length, 'more place')}` : '';
  return `${key}, line ${first?.line}: ${mine} ${JSON.stringify(first?.mine.join('\n'))}, ${theirs} ${JSON.stringify(first?.theirs.join('\n'))}${rest}`;
}
