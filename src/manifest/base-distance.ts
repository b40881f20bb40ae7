import type { KubeObject } from '../kernel/object.ts';
import type { MergeKnowledge } from '../kernel/profile.ts';
import type { ListRules } from '../kube/list-keys.ts';
import { alike } from './alike.ts';
import { definitionDifferences } from './definition-differences.ts';
import { mergeManifest } from './merge.ts';
import { identityOf, prepared } from './prepare.ts';

/** What is installed, object by object. */
export interface InstalledText {
  /** By identity, as it was applied and changed since; without definitions. */
  readonly objects: ReadonlyMap<string, KubeObject>;
  readonly knowledge?: MergeKnowledge;
  readonly listRules?: ListRules;
}

/** In how many places a release's own manifest differs from the installation. Images do not count: their tags are compared separately. */
export type Distance = (documents: readonly KubeObject[]) => number;

/** Counts each object of a release once, however many releases have it: most of them do. */
export function textDistance({ objects, ...how }: InstalledText): Distance {
  const counts = new Map<string, number>();
  return (documents) => {
    const plain = documents.filter(({ kind }) => kind !== 'CustomResourceDefinition');
    const known = new Set(plain.map(identityOf));
    const added = [...objects].filter(([identity, { kind }]) => !known.has(identity) && kind !== 'CustomResourceDefinition').length;
    return plain.reduce((sum, document) => sum + countOf(document), added);
  };

  function countOf(document: KubeObject): number {
    const key = `${identityOf(document)} ${textOf(document)}`;
    const known = counts.get(key) ?? differences(document, objects.get(identityOf(document)), how);
    counts.set(key, known);
    return known;
  }
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
  return (documents) => documents.filter(({ kind }) => kind === 'CustomResourceDefinition').reduce((sum, one) => sum + countOf(one), 0);
}

const IMAGE = /("image":")[^"]*"/g;
const texts = new WeakMap<KubeObject, string>();

function textOf(document: KubeObject): string {
  const text = texts.get(document) ?? JSON.stringify(document).replace(IMAGE, '$1"');
  texts.set(document, text);
  return text;
}

function differences(document: KubeObject, mine: KubeObject | undefined, how: Omit<InstalledText, 'objects'>): number {
  if (!mine) return 1;
  if (alike(withoutVersion(document), withoutVersion(mine), { apartFromImages: true })) return 0;
  const { edits } = mergeManifest({ ...how, base: [document], mine: [mine], theirs: [document] });
  return edits.filter(({ path, outcome }) => outcome !== 'left' && !path.endsWith('.image')).length;
}

function withoutVersion(object: KubeObject): unknown {
  const { apiVersion: _, ...fields } = prepared(object);
  return fields;
}
