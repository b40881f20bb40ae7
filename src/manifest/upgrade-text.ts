import { sameValue } from '../kernel/json.ts';
import type { KubeObject } from '../kernel/object.ts';
import { type ListRules, rulesOf } from '../kube/list-keys.ts';
import { type Manifest, type ManifestDocument, manifestText, parseManifest } from './manifest.ts';
import type { MergeResult } from './merge-input.ts';
import { identityOf, prepared } from './prepare.ts';
import { editYaml } from './yaml-edit.ts';
import { writeYaml } from './yaml-rules.ts';

/** A stretch of the file: a document, or what stands between two. */
interface Stretch {
  readonly text: string;
  readonly document?: ManifestDocument;
}

type Wanted = ReadonlyMap<string, KubeObject>;

/**
 * The target's text with the edits in place, comparable to it: comments and order stay, unedited documents are byte-identical, removed ones
 * are left out, added ones come last. List items keep their text by `listRules` of the server, else by the table. Throws Fault('usage') if
 * `theirsText` is no manifest.
 */
export function upgradeText(theirsText: string, { documents }: Pick<MergeResult, 'documents'>, listRules?: ListRules): string {
  const manifest = parseManifest(theirsText, 'the target’s manifest');
  const wanted = new Map(documents.map((object) => [identityOf(object), object]));
  const kept = textWith(theirsText, manifest, wanted, listRules);
  if (kept === undefined) return manifestText(documents);
  const known = new Set(manifest.documents.map(({ object }) => identityOf(object)));
  const added = documents.filter((object) => !known.has(identityOf(object)));
  return kept + added.map((object, index) => `${index === 0 && /(^|\n)$/.test(kept) ? '' : '\n'}---\n${writeYaml(object)}`).join('');
}

/** A manifest's text with these objects in place of its own, by identity. Undefined if a document is no part of the text. */
export function textWith(
  whole: string,
  { documents }: Pick<Manifest, 'documents'>,
  wanted: Wanted,
  listRules?: ListRules,
): string | undefined {
  const text = whole.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const stretches = stretchesOf(text, documents);
  return stretches?.map((one, index) => textOf(one, stretches[index + 1], { wanted, listRules })).join('');
}

/** Undefined if a document is no part of the text, as an item of a `List`. */
function stretchesOf(text: string, documents: readonly ManifestDocument[]): readonly Stretch[] | undefined {
  const stretches: Stretch[] = [];
  let end = 0;
  for (const document of documents) {
    const start = text.indexOf(document.text, end);
    if (start < 0) return undefined;
    stretches.push({ text: text.slice(end, start) }, { text: document.text, document });
    end = start + document.text.length;
  }
  return [...stretches, { text: text.slice(end) }];
}

interface Writing {
  readonly wanted: Wanted;
  readonly listRules: ListRules | undefined;
}

function textOf({ text, document }: Stretch, next: Stretch | undefined, { wanted, listRules }: Writing): string {
  const subject = document ?? next?.document;
  if (!subject) return text;
  const object = wanted.get(identityOf(subject.object));
  if (!object) return document ? '' : text.replace(/---[ \t]*\n$/, '');
  if (!document) return text;
  const before = prepared(document.object);
  if (sameValue(before, object)) return text;
  return editYaml(text, before, object, rulesOf(object, listRules)) ?? writeYaml(object);
}
