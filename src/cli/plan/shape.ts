import type { Stats } from 'node:fs';
import { lstat, readFile, realpath, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { command } from '../../kernel/argv.ts';
import { Fault, messageOf } from '../../kernel/fault.ts';
import { isListOf, isRecord, isText, isTextOrAbsent, type JsonMap, parsedJson } from '../../kernel/json.ts';
import type { Suggestion } from '../../kernel/step.ts';
import { text } from '../../kernel/step.ts';
import { OUTPUT_VERSION, type PlanDocument } from '../documents.ts';
import { assertPlace } from '../ending/file.ts';

/** `output.netsvc-upgrade/v`, before the number. */
const FAMILY = OUTPUT_VERSION.replace(/\d+$/, '');

/** The saved plan in a text. Throws Fault('usage') for anything else, saying what is wrong with it. */
export function parsePlan(text: string, file: string, suggestions: readonly Suggestion[]): PlanDocument {
  const refuse = (why: string) => new Fault('usage', `${file} is not a saved plan: ${why}`, suggestions);
  const value = parsed(text);
  if (value === undefined) throw refuse('it is not JSON');
  if (!isRecord(value)) throw refuse('it is not an object');
  if (isNewer(value.apiVersion)) {
    throw new Fault('usage', `${file} has layout ${value.apiVersion}; this program knows ${OUTPUT_VERSION}`, [
      'run it with the version of this program that made it, or newer',
      ...suggestions,
    ]);
  }
  if (value.apiVersion !== OUTPUT_VERSION) throw refuse(`apiVersion is not ${OUTPUT_VERSION}`);
  if (value.kind !== 'Plan') throw refuse('kind is not Plan');
  const wrong = wrongIn(value);
  if (wrong.length > 0) throw refuse(`wrong or missing: ${wrong.join(', ')}`);
  return value as unknown as PlanDocument;
}

/** A plan of this program, of whatever layout and however damaged: it may be replaced by a newer one. */
export function isPlanOfOurs(text: string): boolean {
  const value = parsed(text);
  return isRecord(value) && value.kind === 'Plan' && isText(value.apiVersion) && value.apiVersion.startsWith(FAMILY);
}

function wrongIn(plan: JsonMap): readonly string[] {
  const { cluster, installed, stages, basis } = plan;
  const parts: readonly (readonly [string, boolean])[] = [
    ['cluster', isRecord(cluster) && isText(cluster.uid) && isText(cluster.context)],
    ['target', isText(plan.target)],
    ['digest', isDigest(plan.digest)],
    ['installed', isRecord(installed) && Object.values(installed).every(isText)],
    ['stages', isListOf(stages, isStage)],
    ['basis', isRecord(basis)],
    ['basis.artifacts', isRecord(basis) && isRecord(basis.artifacts) && Object.values(basis.artifacts).every(isText)],
    ['basis.objects', isRecord(basis) && isListOf(basis.objects, isObject)],
    ['basis.actions', isRecord(basis) && isListOf(basis.actions, isAction)],
  ];
  return parts.filter(([, isRight]) => !isRight).map(([name]) => name);
}

function isStage({ id, skip, objects, actions }: JsonMap): boolean {
  return (
    isText(id) &&
    isTextOrAbsent(skip) &&
    isListOf(objects, ({ ref, fields }) => isRef(ref) && isListOf(fields, ({ path }) => isText(path))) &&
    isListOf(actions, ({ effect }) => isRecord(effect) && isListOf(effect.patches ?? [], ({ target }) => isRef(target)))
  );
}

function isObject({ stage, ref, change, does, before, after }: JsonMap): boolean {
  return [stage, change, does].every(isText) && isRef(ref) && [before, after].every(isTextOrAbsent);
}

function isAction({ stage, id, type, does }: JsonMap): boolean {
  return [stage, id, type, does].every(isText);
}

function isRef(ref: unknown): boolean {
  return isRecord(ref) && [ref.apiVersion, ref.kind, ref.name].every(isText) && isTextOrAbsent(ref.namespace);
}

const parsed = (text: string) => parsedJson(text.replace(/^\uFEFF/, ''));
const isDigest = (value: unknown) => isText(value) && /^[0-9a-f]{64}$/.test(value);

/** `output.netsvc-upgrade/v2` and later. */
function isNewer(apiVersion: unknown): apiVersion is string {
  if (!isText(apiVersion) || !apiVersion.startsWith(FAMILY)) return false;
  return Number(apiVersion.slice(FAMILY.length)) > Number(OUTPUT_VERSION.slice(FAMILY.length));
}

/** Where a plan for this file is written. Throws Fault('usage') where a file is there that is not empty and no plan of this program. */
export async function planPlace(file: string): Promise<string> {
  await assertPlace('--out', file);
  const own = await seen(file, lstat);
  // In a folder where anybody may write, as /tmp, others can make a link to a file of this user.
  if (own?.isSymbolicLink() && process.getuid !== undefined && own.uid !== process.getuid())
    throw new Fault('usage', `--out ${file} is a link of another user: it is not followed`, ['name a file in a folder of your own']);
  const found = await seen(file, stat);
  if (found === undefined) return file;
  // A device or a pipe would be replaced by a file of its name.
  if (!found.isFile()) throw new Fault('usage', `--out ${file} is not a file`, ['name a file, or print the plan: -o json']);
  if (found.size === 0 || isPlanOfOurs(await readFile(file, 'utf8').catch(() => ''))) return realpath(file);
  throw new Fault('usage', `--out ${file} exists and is not a saved plan: it is not overwritten`, [
    text`name another file: ${command`kubectl netsvc-upgrade plan --out ${anotherPlace(file)}`}`,
  ]);
}

/** Undefined only where nothing is there. */
async function seen(file: string, look: (file: string) => Promise<Stats>): Promise<Stats | undefined> {
  return look(file).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === 'ENOENT') return undefined;
    throw new Fault('usage', `--out ${file} cannot be looked at: ${messageOf(thrown)}`, ['name a file in a folder of your own'], thrown);
  });
}

/** A name for a plan that is not this file's. */
export function anotherPlace(file: string): string {
  return basename(file) === 'plan.json' ? 'new-plan.json' : 'plan.json';
}
