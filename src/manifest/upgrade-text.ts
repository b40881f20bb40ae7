import { type Document, isMap, isNode, isScalar, isSeq, type Node, Scalar, visit, type YAMLMap, type YAMLSeq } from 'yaml';
import { isRecord, type JsonMap, jsonAt, sameValue } from '../kernel/json.ts';
import type { KubeObject } from '../kernel/object.ts';
import { type KindRules, type ListRules, rulesOf } from '../kube/list-keys.ts';
import { canonical, itemsOf } from './alike.ts';
import { type Manifest, type ManifestDocument, manifestText, parseManifest } from './manifest.ts';
import type { MergeResult } from './merge-input.ts';
import { identityOf, prepared } from './prepare.ts';
import { mergeSequences } from './sequences.ts';
import { editableYaml, readYaml, writeYaml } from './yaml-rules.ts';

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
  return stretches?.map((one, index) => textOf(one, stretches[index + 1], wanted, listRules)).join('');
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

function textOf({ text, document }: Stretch, next: Stretch | undefined, wanted: Wanted, listRules: ListRules | undefined): string {
  const subject = document ?? next?.document;
  if (!subject) return text;
  const object = wanted.get(identityOf(subject.object));
  if (!object) return document ? '' : text.replace(/---[ \t]*\n$/, '');
  if (!document) return text;
  const before = prepared(document.object);
  if (sameValue(before, object)) return text;
  return editYaml(text, before, object, rulesOf(object, listRules)) ?? writeYaml(object);
}

/** Longer texts are compared line by line in no reasonable time; only definitions are longer, and nobody edits them here. */
const MAX_LINES = 3000;

/** What every reader takes for text without quotes. */
const PLAIN_TEXT = /^[A-Za-z/][\w./:@=+-]*$/;

/**
 * The text of one document with `after` in place of `before`; comments, order and spelling stay. Undefined if the new text would not read
 * back as `after`; `rules` identify list items as the server does.
 */
function editYaml(text: string, before: unknown, after: unknown, rules?: KindRules): string | undefined {
  const plain = written(editableYaml(text), text);
  const document = editableYaml(text);
  document.contents = sync({ document, rules }, document.contents, { before, after, name: '', path: '' }) as typeof document.contents;
  const edited = written(document, text);
  const wanted = withChange(readYaml(text).value, before, after);
  return [inPlace(text, plain, edited), edited].find((one) => one !== undefined && sameValue(readYaml(one).value, wanted));
}

/** What a file says besides the merged object: empty status and the like, which merging leaves out. */
function withChange(whole: unknown, before: unknown, after: unknown): unknown {
  if (!isRecord(whole) || !isRecord(before) || !isRecord(after)) return after;
  const fields = Object.entries(whole).flatMap(([name, value]) => {
    if (!Object.hasOwn(before, name)) return [[name, value]];
    return Object.hasOwn(after, name)
      ? [[name, sameValue(before[name], after[name]) ? value : withChange(value, before[name], after[name])]]
      : [];
  });
  const added = Object.entries(after).filter(([name]) => !Object.hasOwn(whole, name));
  return Object.fromEntries([...fields, ...added]);
}

function written(document: Document.Parsed, text: string): string {
  const indentSeq = !/^( *)[\w-]+:[ \t]*\n\1- /m.test(text);
  const end = /\n?$/.exec(text)?.[0] ?? '';
  return document.toString({ lineWidth: 0, flowCollectionPadding: /\{ \S/.test(text), directives: false, indentSeq }).trimEnd() + end;
}

/** The lines that the edit changed, in the file's own text: writing may spell other lines differently. */
function inPlace(text: string, plain: string, edited: string): string | undefined {
  if (plain === text) return edited;
  const [base, mine, theirs] = [plain.split('\n'), text.split('\n'), edited.split('\n')];
  if (Math.max(base.length, mine.length, theirs.length) > MAX_LINES) return undefined;
  return mergeSequences(base, mine, theirs)?.join('\n');
}

interface Writer {
  readonly document: Document;
  readonly rules: KindRules | undefined;
}

interface Change {
  readonly before: unknown;
  readonly after: unknown;
  readonly name: string;
  /** The names of the fields that lead here, without items. */
  readonly path: string;
}

function sync(writer: Writer, node: unknown, change: Change): unknown {
  const { before, after, name, path } = change;
  if (sameValue(before, after)) return node;
  if (isMap(node) && isRecord(before) && isRecord(after)) return syncMap(writer, node, before, after, path);
  if (isSeq(node) && Array.isArray(before) && Array.isArray(after)) return syncList(writer, node, after, change);
  if (isScalar(node) && typeof node.value === typeof after && typeof after !== 'object') {
    node.value = after;
    node.source = undefined as never;
    return node;
  }
  return created(writer.document, after, name, isScalar(node) ? node.type : undefined);
}

function syncMap(writer: Writer, map: YAMLMap, before: JsonMap, after: JsonMap, path: string): YAMLMap {
  const nameOf = (key: unknown) => String(isScalar(key) ? key.value : key);
  map.items = map.items.filter(({ key }) => Object.hasOwn(after, nameOf(key)) || !Object.hasOwn(before, nameOf(key)));
  for (const pair of map.items) {
    const name = nameOf(pair.key);
    const change = { before: jsonAt(before, name), after: after[name], name, path: path === '' ? name : `${path}.${name}` };
    if (Object.hasOwn(after, name)) pair.value = sync(writer, pair.value, change);
  }
  for (const [name, value] of Object.entries(after)) {
    if (!map.has(name)) map.add(writer.document.createPair(name, created(writer.document, value, name)));
  }
  return map;
}

/** Items keep their text where they have a counterpart. */
function syncList(writer: Writer, list: YAMLSeq, after: readonly unknown[], { name, path }: Change): YAMLSeq {
  const { document } = writer;
  const rule = writer.rules?.get(path);
  const values = list.items.map((item) => (item as Node).toJS(document) as unknown);
  const keyed = itemsOf(name, values, rule) && itemsOf(name, after, rule);
  const keysOf = (items: readonly unknown[]) => (keyed ? [...(itemsOf(name, items, rule)?.keys() ?? [])] : items.map(canonical));
  const there = new Map(keysOf(values).map((key, index) => [key, index]));
  const keys = keysOf(after);
  const first = list.items[0];
  list.items = after.map((item, index) => {
    const at = there.get(keys[index] ?? '');
    if (at === undefined) return created(document, item, name);
    there.delete(keys[index] ?? '');
    return sync(writer, list.items[at], { before: values[at], after: item, name: '', path });
  });
  if (list.items[0] !== first && list.items.includes(first)) keepComment(list, first);
  return list;
}

/** YAML reads a comment above the first item as the list's: it must stay with that item if another comes before it. */
function keepComment(list: YAMLSeq, first: unknown): void {
  if (!list.commentBefore || !isNode(first)) return;
  first.commentBefore = list.commentBefore;
  list.commentBefore = null;
}

/** Texts are quoted as manifests do it: what a reader could take for anything else, and the values of variables. */
function created(document: Document, value: unknown, name: string, type?: Scalar['type']): unknown {
  const node = document.createNode(value);
  visit(node, {
    Scalar: (key, scalar, path) => {
      if (key === 'key' || typeof scalar.value !== 'string') return;
      const pair = path.at(-1);
      const held = pair && 'key' in pair && isScalar(pair.key) ? pair.key.value : name;
      const text = scalar.value;
      if (type && scalar === node) scalar.type = type;
      else if (text.includes('\n')) scalar.type = Scalar.BLOCK_LITERAL;
      else if (held === 'value' || !PLAIN_TEXT.test(text)) scalar.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return node;
}
