import type { KubeObject } from '../core/object.ts';
import { sameValue } from './json.ts';
import { type ManifestDocument, manifestText, parseManifest } from './manifest.ts';
import type { MergeResult } from './merge-input.ts';
import { identityOf, prepared } from './prepare.ts';
import { editYaml } from './yaml-edit.ts';
import { writeYaml } from './yaml-rules.ts';

/** A stretch of the file: a document, or what stands between two. */
interface Stretch {
  readonly text: string;
  readonly document?: ManifestDocument;
}

/**
 * The target's own text with the carried edits in place, so that a person can compare the two: comments and order of the release
 * stay, documents without an edit are the same byte for byte, removed documents are left out and added ones stand at the end.
 * Throws Fault('usage') if `theirsText` is no manifest.
 */
export function upgradeText(theirsText: string, { documents }: Pick<MergeResult, 'documents'>): string {
  const manifest = parseManifest(theirsText, 'the target’s manifest');
  const text = theirsText.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const stretches = stretchesOf(text, manifest.documents);
  if (!stretches) return manifestText(documents);
  const wanted = new Map(documents.map((object) => [identityOf(object), object]));
  const kept = stretches.map((one, index) => textOf(one, stretches[index + 1], wanted));
  const known = new Set(manifest.documents.map(({ object }) => identityOf(object)));
  const added = documents.filter((object) => !known.has(identityOf(object)));
  return (
    kept.join('') +
    added.map((object, index) => `${index === 0 && /(^|\n)$/.test(kept.join('')) ? '' : '\n'}---\n${writeYaml(object)}`).join('')
  );
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

function textOf({ text, document }: Stretch, next: Stretch | undefined, wanted: ReadonlyMap<string, KubeObject>): string {
  const subject = document ?? next?.document;
  if (!subject) return text;
  const object = wanted.get(identityOf(subject.object));
  if (!object) return document ? '' : text.replace(/---[ \t]*\n$/, '');
  if (!document) return text;
  const before = prepared(document.object);
  if (sameValue(before, object)) return text;
  return editYaml(text, before, object) ?? writeYaml(object);
}
