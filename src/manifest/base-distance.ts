import type { KubeObject } from '../kernel/object.ts';
import { alike } from './alike.ts';
import { definitionDifferences } from './definition-differences.ts';
import { mergeManifest } from './merge.ts';
import type { MergeInput, Objects } from './merge-input.ts';
import { identityOf, prepared } from './prepare.ts';

export function isDefinition({ kind }: KubeObject): boolean {
  return kind === 'CustomResourceDefinition';
}

/** In how many places a release's own manifest differs from the installation. Images do not count: their tags are compared separately. */
export type Distance = (documents: readonly KubeObject[]) => number;

/** Of what is installed but definitions. Counts each object of a release once, however many releases have it: most of them do. */
export function textDistance(installed: Objects, how: Pick<MergeInput, 'knowledge' | 'listRules'>): Distance {
  const counts = new Map<string, number>();
  const objects = new Map([...installed].filter(([, object]) => !isDefinition(object)));
  const countOf = (document: KubeObject): number => {
    const key = `${identityOf(document)} ${textOf(document)}`;
    const known = counts.get(key) ?? differences(document, objects.get(identityOf(document)), how);
    counts.set(key, known);
    return known;
  };
  return (documents) => {
    const plain = documents.filter((one) => !isDefinition(one));
    const known = new Set(plain.map(identityOf));
    const added = [...objects.keys()].filter((identity) => !known.has(identity)).length;
    return plain.reduce((sum, document) => sum + countOf(document), added);
  };
}

/** The same of definitions: `definitions` are those that may tell the release. */
export function definitionDistance(definitions: readonly KubeObject[]): Distance {
  const counts = new WeakMap<KubeObject, number>();
  const own = new Map(definitions.map((one) => [identityOf(one), one]));
  const countOf = (document: KubeObject): number => {
    const state = own.get(identityOf(document));
    const count = counts.get(document) ?? (state ? (definitionDifferences(document, state)?.length ?? 0) : 0);
    counts.set(document, count);
    return count;
  };
  return (documents) => documents.filter(isDefinition).reduce((sum, one) => sum + countOf(one), 0);
}

const IMAGE = /("image":")[^"]*"/g;
const texts = new WeakMap<KubeObject, string>();

function textOf(document: KubeObject): string {
  const text = texts.get(document) ?? JSON.stringify(document).replace(IMAGE, '$1"');
  texts.set(document, text);
  return text;
}

function differences(document: KubeObject, mine: KubeObject | undefined, how: Pick<MergeInput, 'knowledge' | 'listRules'>): number {
  if (!mine) return 1;
  if (alike(withoutVersion(document), withoutVersion(mine), { apartFromImages: true })) return 0;
  const { knowledge, listRules } = how;
  const rules = { ...(knowledge ? { knowledge } : {}), ...(listRules ? { listRules } : {}) };
  const { edits } = mergeManifest({ ...rules, base: [document], mine: [mine], theirs: [document] });
  return edits.filter(({ path, outcome }) => outcome !== 'left' && !path.endsWith('.image')).length;
}

function withoutVersion(object: KubeObject): unknown {
  const { apiVersion: _, ...fields } = prepared(object);
  return fields;
}
