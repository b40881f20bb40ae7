import { Fault, messageOf } from '../kernel/fault.ts';
import { isRecord, type JsonMap, textAt } from '../kernel/json.ts';
import type { KubeObject } from '../kernel/object.ts';
import type { Artifact } from '../kernel/ports.ts';
import { withinTime } from './within-time.ts';
import { isSmall, READING_MS, readYaml, writeYaml, type YamlReading } from './yaml-rules.ts';

export interface ManifestDocument {
  readonly object: KubeObject;
  /** As it stands in the file, byte for byte (line ends are LF); an item of a `List` is serialized again. */
  readonly text: string;
  /** Where it starts in the file, counted from 1. */
  readonly line: number;
}

/** A file of Kubernetes objects, in the file's order. */
export interface Manifest {
  readonly name: string;
  readonly documents: readonly ManifestDocument[];
  /** What the user should know although kubectl accepts it: map keys that are there twice, lines in quotes without indentation. */
  readonly notes?: readonly string[];
}

/** The objects alone, in the file's order. */
export function objectsIn({ documents }: Pick<Manifest, 'documents'>): readonly KubeObject[] {
  return documents.map(({ object }) => object);
}

const LIMIT_BYTES = 20_000_000;
/** The YAML reader needs quadratic time for brackets in brackets; no manifest has this many. */
const MOST_OPEN = 200;

interface Chunk {
  readonly text: string;
  /** Line of its first character, counted from 1. */
  readonly line: number;
}

/**
 * Reads a manifest; one bad document refuses the whole file, as nothing may be half applied. Throws Fault('usage') with the line. Nothing else
 * happens meanwhile, for 20 s at most: of a text that others wrote only what was read before with `readManifest`.
 */
export function parseManifest(text: string, name: string, limitMs = READING_MS): Manifest {
  const step = readOn(reading(text, name), limitMs);
  return step.done ? step.value : refuseSlow(name, step.value, limitMs);
}

const SLICE_MS = 50;

/** The same with pauses between its objects: the lock is renewed and Ctrl-C is heard. It may take 20 s of reading, too. */
export async function readManifest(text: string, name: string, limitMs = READING_MS): Promise<Manifest> {
  const steps = reading(text, name);
  for (let left = limitMs; ; left -= SLICE_MS) {
    const step = readOn(steps, SLICE_MS);
    if (step.done) return step.value;
    if (left <= 0) return refuseSlow(name, step.value, limitMs);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** What it yields after each object is the line that it has come to. */
type Steps = Generator<number, Manifest>;

function readOn(steps: Steps, ms: number): IteratorResult<number, Manifest> {
  const until = performance.now() + ms;
  let step = steps.next();
  while (!step.done && performance.now() < until) step = steps.next();
  return step;
}

function refuseSlow(name: string, line: number, ms = READING_MS): never {
  throw refusal(name, line, `reading takes longer than ${ms / 1000} s`, 'Name a file of Kubernetes manifests.');
}

function* reading(text: string, name: string): Steps {
  const clean = cleanText(text, name);
  const documents: ManifestDocument[] = [];
  const notes: string[] = [];
  for (const chunk of splitDocuments(clean)) {
    const found = readChunk(chunk, name);
    yield chunk.line;
    if (found.value === undefined || found.value === null) continue;
    const line = chunk.line + found.line - 1;
    for (const document of objectsOf(found.value, { text: chunk.text, line }, name)) {
      documents.push(document);
      yield line;
    }
    for (const { key, line: at } of found.repeated) {
      notes.push(`${name}:${chunk.line + at - 1}: the key "${key}" is there twice; the last one counts. Remove one of them.`);
    }
    notes.push(...repairNotes(found, chunk, name));
  }
  return { name, documents, ...(notes.length > 0 ? { notes } : {}) };
}

function repairNotes({ repaired = [] }: YamlReading, chunk: Chunk, name: string): readonly string[] {
  const [first, ...more] = repaired;
  if (!first) return [];
  const others = more.length > 0 ? ` (and ${more.length} more in this document)` : '';
  const fact = 'lines of a quoted text are indented no further than its key; it was read as kubectl reads it.';
  return [`${name}:${chunk.line + first.line - 1}:${first.column}${others}: ${fact} Indent its later lines.`];
}

/** A multi-document manifest that kubectl reads back to the same values. */
export function manifestText(objects: readonly KubeObject[]): string {
  return objects.map((object) => writeYaml(object)).join('---\n');
}

/** Such texts end with as many line breaks as stand there. */
const KEEPS_BREAKS = /[|>]\d?\+/;

/** Documents as one file, unchanged: indentation of the first line and blanks in the last one have a meaning. */
export function documentsText(documents: readonly Pick<ManifestDocument, 'text'>[]): string {
  return documents
    .map(({ text }) => {
      const begun = text.replace(/^(?:[ \t]*\n)+/, '');
      return `---\n${KEEPS_BREAKS.test(begun) ? begun.replace(/\n$/, '') : withoutBreaks(begun)}\n`;
    })
    .join('');
}

/** Where too many brackets open one after another. */
function deepAt(text: string): number | undefined {
  for (const { 0: run, index } of text.matchAll(/[[{][[{\s]*/g))
    if (run.length >= MOST_OPEN && run.replaceAll(/\s+/g, '').length >= MOST_OPEN) return index;
  return undefined;
}

/** Without the line breaks at its end. A pattern would look through every run of them. */
function withoutBreaks(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\n') end -= 1;
  return text.slice(0, end);
}

function cleanText(text: string, name: string): string {
  if (text.length > LIMIT_BYTES) {
    throw new Fault('usage', `${name} is larger than ${LIMIT_BYTES / 1e6} MB`, ['Name a file of Kubernetes manifests.']);
  }
  const nul = text.indexOf('\0');
  if (nul >= 0) {
    const line = countLines(text.slice(0, nul)) + 1;
    throw refusal(name, line, 'the file is not text', 'Name a file of Kubernetes manifests, unpacked and in UTF-8.');
  }
  const deep = deepAt(text);
  if (deep !== undefined)
    throw refusal(name, countLines(text.slice(0, deep)) + 1, 'lists are nested too deeply', 'Name a file of Kubernetes manifests.');
  return text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
}

/** At each line that starts with `---`, as kubectl splits; a line with content behind the dashes stays with its document. */
function* splitDocuments(text: string): Generator<Chunk> {
  const marker = /^---(?:[ \t]+(?:#.*)?)?$\n?|^---(?=\s)/gm;
  let [start, line] = [0, 1];
  for (const match of text.matchAll(marker)) {
    const before = text.slice(start, match.index);
    if (before.trim() !== '') yield { text: before, line };
    const next = match[0] === '---' && text[match.index + 3] !== undefined ? match.index : match.index + match[0].length;
    line += countLines(text.slice(start, next));
    start = next;
  }
  if (text.slice(start).trim() !== '') yield { text: text.slice(start), line };
}

function countLines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

function readChunk(chunk: Chunk, name: string): YamlReading {
  let reading: YamlReading;
  try {
    reading = readYaml(chunk.text);
  } catch (thrown) {
    throw refusal(name, chunk.line, messageOf(thrown), 'Remove aliases and deep nesting: kubectl needs neither.');
  }
  if (!reading.problem) return reading;
  const line = chunk.line + reading.problem.line - 1;
  throw refusal(name, line, `not valid YAML: ${reading.problem.message}`, `Correct line ${line} of ${name}; nothing of the file was used.`);
}

/** The object of a document, or those of its `List`, one by one. */
function* objectsOf(value: unknown, source: Chunk, name: string, isItem = false): Generator<ManifestDocument> {
  if (!isRecord(value)) {
    throw refusal(name, source.line, 'the document is not a Kubernetes object', 'Give it apiVersion, kind and metadata.');
  }
  if (typeof value.kind === 'string' && value.kind.endsWith('List') && Array.isArray(value.items)) {
    for (const item of value.items) yield* objectsOf(item, source, name, true);
    return;
  }
  const object = checkObject(value, source, name);
  yield { object, text: isItem ? itemText(object, source, name) : source.text, line: source.line };
}

/** Written again, which of a large item takes longer than reading it. */
function itemText(item: KubeObject, { text, line }: Chunk, name: string): string {
  return isSmall(text) ? writeYaml(item) : (withinTime(READING_MS, () => writeYaml(item)) ?? refuseSlow(name, line));
}

function checkObject(value: JsonMap, { line }: Chunk, name: string): KubeObject {
  const missing = ['apiVersion', 'kind', 'metadata.name'].filter((field) => !textAt(value, ...field.split('.')));
  if (missing.length === 0) return value as KubeObject;
  throw refusal(name, line, `the document has no ${missing.join(', ')}`, `Add ${missing.join(', ')} as text, or remove the document.`);
}

function refusal(name: string, line: number, fact: string, next: string): Fault {
  return new Fault('usage', `${name}:${line}: ${fact}`, [next]);
}

/** Reading a manifest takes longer than fetching it, and every stage reads the same one: what was read once is known. */
const known = new WeakMap<Artifact, Promise<Manifest>>();

/** The manifest in an artifact. Throws Fault('usage') with file and line. */
export function manifestOf(artifact: Artifact): Promise<Manifest> {
  const manifest = known.get(artifact) ?? readManifest(new TextDecoder().decode(artifact.bytes), artifact.url);
  known.set(artifact, manifest);
  return manifest;
}
