import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse, parseDocument, stringify } from 'yaml';
import type { KubeObject } from '../../src/kernel/object.ts';
import { editDocument, type ManifestEdit } from './manifest-edits.ts';
import { manifestFile, releases } from './releases.ts';

/**
 * A manifest as people keep it in a public repository: the release's own, and their edits. Only the edits are kept here, each by object
 * and field; the rest comes from the release (`build/edited-manifest.ts` tells the edits of a file, `test/data/NOTICE` whose they are).
 */
export interface EditedManifest {
  /** Repository, path, commit, date and licence. */
  readonly source: string;
  /** The release that it was made from, and which of its files. */
  readonly release: string;
  readonly file: string;
  /** How the text differs, where that matters to who reads it. */
  readonly text?: 'line ends are CRLF' | 'later lines of quoted texts are not indented';
  readonly edits: readonly ManifestEdit[];
  /** The order of the objects, where it is another: places among those that stayed, and after them those that came. */
  readonly order?: readonly number[];
}

export const EDITED_MANIFESTS = join(import.meta.dirname, '..', 'data', 'edited-manifests.json');

/** By name: variant, release, and who edited it. */
export const editedManifests = JSON.parse(readFileSync(EDITED_MANIFESTS, 'utf8')) as Readonly<Record<string, EditedManifest>>;

/** `kind/namespace/name` */
export const objectName = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.namespace ?? ''}/${metadata.name}`;

interface Document {
  readonly object: KubeObject;
  readonly text: string;
}

/** The objects of a manifest and their texts, read without any of the product's own reading; numbers are those of YAML 1.1, as for kubectl. */
export function documentsIn(text: string): readonly Document[] {
  return text
    .split(/^---$/m)
    .map((part) => ({ text: part, object: parse(part, { version: '1.1' }) as KubeObject | null }))
    .flatMap(({ text: own, object }) => (object ? [{ object, text: own }] : []));
}

/** The text of that manifest. */
export function editedManifest(name: string): string {
  const manifest = editedManifests[name];
  if (!manifest) throw new Error(`there is no edited manifest ${name}`);
  return written(manifest, documentsIn(readFileSync(manifestFile(manifest.release, manifest.file), 'utf8')));
}

function written({ edits, order, text }: EditedManifest, base: readonly Document[]): string {
  const names = base.map(({ object }) => objectName(object));
  const lost = edits.find(({ object, path }) => path !== undefined && !names.includes(object));
  if (lost) throw new Error(`no ${lost.object} to edit`);
  const kept = base.flatMap(({ object, text: own }) => {
    const mine = edits.filter((edit) => edit.object === objectName(object));
    if (mine.some(({ path, removed }) => path === undefined && removed)) return [];
    const fields = mine.flatMap(({ path, ...edit }) => (path ? [{ ...edit, path }] : []));
    return [fields.length === 0 ? own : editedText(own, fields)];
  });
  const come = edits.flatMap(({ path, value }) => (path === undefined && value !== undefined ? [`\n${stringify(value)}`] : []));
  const all = [...kept, ...come];
  const made = (order ?? [...all.keys()]).map((place) => all[place] ?? '').join('---');
  if (text === 'line ends are CRLF') return made.replaceAll('\n', '\r\n');
  return text === undefined ? made : withoutIndentation(made);
}

function editedText(text: string, edits: Parameters<typeof editDocument>[1]): string {
  const document = parseDocument(text, { version: '1.1' });
  editDocument(document, edits);
  return `\n${document.toString({ lineWidth: 0, directives: false })}`;
}

/** What an editor makes of quoted texts of several lines: they begin where their key begins, which YAML 1.2 does not allow. */
function withoutIndentation(text: string): string {
  let column: number | undefined;
  const lines = text.split('\n').map((line) => {
    if (column !== undefined) {
      const own = line.trim() === '' ? line : ' '.repeat(column) + line.trimStart();
      if (/^(?:[^']|'')*'$/.test(line)) column = undefined;
      return own;
    }
    const [, before] = /^([ -]*)[\w$]+: '(?:[^']|'')*$/.exec(line) ?? [];
    column = before?.length;
    return line;
  });
  return lines.join('\n');
}

/** A file with that text, made once. */
export function editedManifestFile(name: string): string {
  const text = editedManifest(name);
  const file = join(dirname(releases), 'edited', createHash('sha256').update(text).digest('hex').slice(0, 16), `${name}.yaml`);
  if (existsSync(file)) return file;
  mkdirSync(dirname(file), { recursive: true });
  const partial = `${file}.${process.pid}`;
  writeFileSync(partial, text);
  renameSync(partial, file);
  return file;
}
