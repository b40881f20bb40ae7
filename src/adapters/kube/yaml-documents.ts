import { parseAllDocuments } from 'yaml';

/** Aliases of one document at most: a few lines of them can stand for gigabytes. */
const ALIASES = 100;

/** A YAML text's documents as kubectl reads them (YAML 1.1), or its problem. Its own file, as dynamic CommonJS has no named exports. */
export function yamlDocuments(text: string): { readonly documents: readonly unknown[]; readonly broken?: string } {
  const all = [...parseAllDocuments(text, { version: '1.1' })];
  const broken = all.flatMap(({ errors }) => errors)[0];
  if (broken) return { documents: [], broken: broken.message.split('\n')[0] ?? '' };
  try {
    return { documents: all.map((one) => one.toJS({ maxAliasCount: ALIASES }) as unknown) };
  } catch (thrown) {
    return { documents: [], broken: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}
