import { command } from '../../kernel/command.ts';
import { counted } from '../../kernel/counted.ts';
import { Fault, messageOf } from '../../kernel/fault.ts';
import { DATA_PLANES } from '../../kernel/installation.ts';
import { isIntentKind } from '../../kernel/intent.ts';
import { isRecord, type JsonMap } from '../../kernel/json.ts';
import { isRecordedPath, type KeptItem, RUN_RECORD_VERSION, type RunRecord } from '../../kernel/run-record.ts';
import { look, text } from '../../kernel/step.ts';
import { sha256Of } from '../../kube/sha256.ts';
import { gunzip, gzip } from '../compression.ts';
import type { Content } from '../state/entry.ts';

/** Largest piece of one kept item, so that two always fit beside each other in a Secret of 1 MiB. Bytes before base64. */
const PIECE_BYTES = 400_000;
/** Pieces of one item, and its bytes once unpacked: far more than any item of this program has. */
const MOST_PIECES = 200;
const MOST_ITEM_BYTES = 128 * 1024 * 1024;

/** The key of an item: readable where it can be, and never the same for two ids. */
export function keyOf(actionId: string): string {
  const safe = actionId.replace(/[^A-Za-z0-9.-]/g, (c) => (c === '/' ? '_' : `_${c.codePointAt(0)?.toString(16)}_`));
  const exact = /^[A-Za-z0-9./-]+$/.test(actionId) && !/\.\d+of\d+$/.test(actionId) && safe.length <= 180;
  const digest = sha256Of(actionId).slice(0, 16);
  return `kept.${exact ? safe : `${safe.slice(0, 150)}_${digest}`}`;
}

/** The item as gzip JSON, cut into pieces named `KEY.1of3`. */
export async function packed(actionId: string, content: unknown): Promise<Content> {
  const bytes = await gzip(Buffer.from(JSON.stringify({ id: actionId, content: content ?? null })));
  const count = Math.max(1, Math.ceil(bytes.length / PIECE_BYTES));
  const pieces = Array.from({ length: count }, (_, index) => bytes.subarray(index * PIECE_BYTES, (index + 1) * PIECE_BYTES));
  const key = keyOf(actionId);
  return Object.fromEntries(pieces.map((piece, index) => [count === 1 ? key : `${key}.${index + 1}of${count}`, piece.toString('base64')]));
}

/** True if the key holds (a piece of) this item. */
export function isPieceOf(actionId: string, key: string): boolean {
  const own = keyOf(actionId);
  return key === own || (key.startsWith(`${own}.`) && /^\d+of\d+$/.test(key.slice(own.length + 1)));
}

/** The item from all pieces found; undefined if there is none. Throws Fault('failed') if a piece is missing. */
export async function unpacked(actionId: string, all: Content): Promise<unknown> {
  const pieces = Object.keys(all).filter((name) => isPieceOf(actionId, name));
  const [first] = pieces;
  return first === undefined ? undefined : (await unpackedKey(keyOf(actionId), first, all)).content;
}

/** Every item whose id has this part, sorted by id. Throws Fault('failed') if a piece of one is missing. */
export async function unpackedWith(part: string, all: Content): Promise<readonly KeptItem[]> {
  const firsts = Object.keys(all).filter((name) => name.startsWith('kept.') && /(?<!\.\d+of\d+)$|\.1of\d+$/.test(name));
  const items = await Promise.all(firsts.map((name) => unpackedKey(name.replace(/\.1of\d+$/, ''), name, all)));
  return items.filter(({ id }) => id.includes(part)).sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** The item under a key, from its pieces; `first` is the name of any one of them. */
async function unpackedKey(key: string, first: string, all: Content): Promise<KeptItem> {
  const [, count] = /\.\d+of(\d+)$/.exec(first) ?? [];
  const pieces = count === undefined ? 1 : Number(count);
  // The number is part of a name that others can write, so it is limited before a list of that length is made.
  if (pieces > MOST_PIECES) throw damagedItem(key, `it says that it has ${counted(Number(count), 'piece')}`);
  const wanted = count === undefined ? [key] : Array.from({ length: pieces }, (_, index) => `${key}.${index + 1}of${count}`);
  const found = wanted.map((name) => all[name]);
  if (found.some((piece) => piece === undefined))
    throw damagedItem(key, `it is incomplete: ${found.filter(Boolean).length} of ${counted(wanted.length, 'piece')}`);
  const item = await unpackedItem(Buffer.concat(found.map((piece) => Buffer.from(piece ?? '', 'base64')))).catch((thrown: unknown) => {
    throw damagedItem(key, messageOf(thrown));
  });
  if (!isKeptItem(item)) throw damagedItem(key, 'it is no item of this program');
  return item;
}

async function unpackedItem(bytes: Uint8Array): Promise<unknown> {
  return JSON.parse((await gunzip(bytes, MOST_ITEM_BYTES)).toString('utf8'));
}

/** True if it has the form of what is kept, whatever its content is. */
function isKeptItem(value: unknown): value is KeptItem {
  return isRecord(value) && typeof value.id === 'string' && 'content' in value;
}

function damagedItem(key: string, why: string): Fault {
  return new Fault('failed', `what was kept as ${key} cannot be read: ${why}`, [
    'restore the Secrets netsvc-upgrade-run and netsvc-upgrade-run-kept-N from a backup',
  ]);
}

/** Bytes that count against a Secret's limit. */
export function sizeOf(binary: Content): number {
  return Object.entries(binary).reduce((sum, [key, value]) => sum + key.length + Math.ceil((value.length * 3) / 4), 0);
}

const TEXTS = ['runId', 'clusterUid', 'profile', 'startedAt', 'startedBy', 'toolVersion'] as const;
const LISTS = ['accepted', 'wrote', 'kept'] as const;
const TEXTS_OR_ABSENT = ['variant', 'oldest', 'backup', 'plan', 'finishedAt', 'outcome'] as const;

/** The record in a text. Throws Fault('failed') for a newer layout, and for anything that is no record. */
export function parseRecord(text: string, where: string): RunRecord {
  const value = parsed(text, where);
  const { version } = value;
  if (typeof version === 'number' && version > RUN_RECORD_VERSION)
    throw new Fault('failed', `the run record in ${where} has version ${version}; this program knows ${RUN_RECORD_VERSION}`, [
      `use the version of kubectl netsvc-upgrade that wrote it, or a newer one${typeof value.toolVersion === 'string' ? ` (it says ${value.toolVersion})` : ''}`,
    ]);
  const wrong = [
    ...(version === RUN_RECORD_VERSION ? [] : ['version']),
    ...Object.entries(FORMS).flatMap(([field, has]) => (has(value[field]) ? [] : [field])),
    ...TEXTS.filter((field) => typeof value[field] !== 'string'),
    ...LISTS.filter((field) => !isTexts(value[field])),
    ...TEXTS_OR_ABSENT.filter((field) => value[field] !== undefined && typeof value[field] !== 'string'),
    ...['flags', 'moved'].filter((field) => value[field] !== undefined && !isTexts(value[field])),
    ...(Array.isArray(value.stages) && value.stages.every(isStage) ? [] : ['stages']),
    ...(value.progress === undefined || isProgress(value.progress) ? [] : ['progress']),
    ...(value.noReturn === undefined || (hasReason(value.noReturn) && isText(value.noReturn.at)) ? [] : ['noReturn']),
    ...(value.stripped === undefined || isStripped(value.stripped) ? [] : ['stripped']),
    ...(isRecord(value.digests) && isTexts(Object.values(value.digests)) ? [] : ['digests']),
  ];
  if (wrong.length > 0) throw unreadable(where, `wrong or missing: ${wrong.join(', ')}`);
  return value as unknown as RunRecord;
}

const FORMS: Readonly<Record<string, (value: unknown) => boolean>> = {
  intent: isIntent,
  path: isRecordedPath,
  dataPlane: (value) => value === undefined || DATA_PLANES.some((one) => one === value),
  nodes: isCountOrAbsent,
};

function isIntent(value: unknown): boolean {
  if (!isRecord(value) || !isIntentKind(value.kind) || !isText(value.to)) return false;
  const { from, takesBack } = value;
  return (from === undefined || isText(from)) && (takesBack === undefined || isTakenBack(takesBack));
}

function isTakenBack(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { runId, from, to, startedAt, wrote, oldest } = value;
  return [runId, from, to, startedAt].every(isText) && isTexts(wrote) && (oldest === undefined || isText(oldest));
}

function isProgress(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { stage, step, of, last, noReturn } = value;
  const isOf = noReturn === undefined || (hasReason(noReturn) && Number.isSafeInteger(noReturn.step));
  return isText(stage) && [step, of, last ?? 0].every(Number.isSafeInteger) && isOf;
}

function isCountOrAbsent(value: unknown): boolean {
  return value === undefined || (Number.isSafeInteger(value) && (value as number) >= 0);
}

function hasReason(value: unknown): value is JsonMap {
  return isRecord(value) && isText(value.because);
}

const isText = (value: unknown) => typeof value === 'string';
const isTexts = (value: unknown) => Array.isArray(value) && value.every(isText);

function isStripped(value: unknown): boolean {
  return isRecord(value) && Number.isInteger(value.objects) && Number.isInteger(value.references) && isTexts(value.parts);
}

function isStage(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { id, state, startedAt, endedAt, because, manual, pod } = value;
  return (
    isCountOrAbsent(manual) &&
    (pod === undefined || isPod(pod)) &&
    [id, state, startedAt].every(isText) &&
    [endedAt, because].every((one) => one === undefined || isText(one))
  );
}

/** It becomes part of a command that is shown. */
function isPod(value: unknown): boolean {
  return (
    isRecord(value) && [value.namespace, value.name].every((one) => typeof one === 'string' && /^[a-z0-9][a-z0-9.-]{0,252}$/.test(one))
  );
}

function parsed(text: string, where: string): JsonMap {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw unreadable(where, 'it is not JSON');
  }
  if (!isRecord(value)) throw unreadable(where, 'it is not an object');
  return value;
}

function unreadable(where: string, why: string): Fault {
  const [, namespace, name] = where.split('/');
  return new Fault('failed', `the run record in ${where} cannot be read: ${why}`, [
    look(text`look at it: ${command`kubectl -n ${namespace} get secret ${name} -o jsonpath='{.data.record\\.json}' | base64 -d`}`),
    'then restore it from a backup',
  ]);
}
