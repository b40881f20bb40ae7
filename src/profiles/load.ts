import { Ajv, type ErrorObject } from 'ajv';
import { type Document, LineCounter, parseDocument } from 'yaml';
import type { DefectCondition, ReleaseRange } from '../kernel/defect.ts';
import { Fault, messageOf } from '../kernel/fault.ts';
import { isRecord, type JsonMap, pointerSteps, textAt } from '../kernel/json.ts';
import type { Profile } from '../kernel/profile.ts';
import { compareVersions, isOlder } from '../kernel/release.ts';
import { shippedProfiles } from './index.ts';
import { profileSchema } from './schema.ts';

interface Source {
  readonly fileName: string;
  readonly document: Document;
  readonly lines: LineCounter;
  readonly own: Readonly<Record<string, unknown>>;
}

const EXPLAINED = 'See docs/reference/profiles.md; schemas/profile.schema.json lists every field.';

/**
 * The user's own profile from YAML (or JSON) text; `extends: NAME` takes what it does not say from a shipped one.
 * @throws Fault('usage') with file, line and field for the first things that are wrong.
 */
export async function loadProfile(text: string, fileName: string): Promise<Profile> {
  const source = parse(text, fileName);
  const { extends: parent, ...own } = source.own;
  const merged = parent === undefined ? own : extend(shippedProfile(parent, source), own);
  return validated(merged, { ...source, own });
}

function parse(text: string, fileName: string): Source {
  const lines = new LineCounter();
  const document = bounded(fileName, () => parseDocument(text, { lineCounter: lines }));
  const [problem] = document.errors;
  if (problem) {
    const fact = problem.message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '');
    throw new Fault('usage', `${fileName}:${lines.linePos(problem.pos[0]).line}: ${fact}`, ['Fix the YAML.']);
  }
  const own: unknown = bounded(fileName, () => document.toJS());
  if (typeof own !== 'object' || own === null || Array.isArray(own)) {
    throw new Fault('usage', `${fileName}:1: a profile is a map of fields`, [EXPLAINED]);
  }
  return { fileName, document, lines, own: own as Source['own'] };
}

/** What `read` makes of the text; nesting and aliases without bound end as a fault of the file. */
function bounded<T>(fileName: string, read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    throw new Fault('usage', `${fileName}:1: not readable as YAML: ${messageOf(thrown)}`, ['Write the fields out, without aliases.']);
  }
}

function shippedProfile(name: unknown, source: Source): Profile {
  const found = shippedProfiles.find((profile) => profile.name === name);
  if (found) return found;
  const names = shippedProfiles.map((profile) => profile.name).join(' or ');
  throw new Fault('usage', `${source.fileName}:${lineOf(source, ['extends'])}: extends: there is no profile ${String(name)}`, [
    `Name ${names}, or leave \`extends\` out.`,
  ]);
}

function validated(merged: unknown, source: Source): Profile {
  const validate = new Ajv({ allErrors: true, discriminator: true, strict: true, strictRequired: false }).compile<Profile>(profileSchema);
  const problems = validate(merged) ? [...rangeProblems(merged), ...pluralProblems(merged)] : (validate.errors ?? []).map(problemOf);
  const facts = [...new Set([...repeatedIds(source), ...problems.map((problem) => factOf(problem, merged, source))])];
  if (facts.length === 0) return merged as Profile;
  const [first = `${source.fileName}:1: is no profile`, ...rest] = facts;
  throw new Fault('usage', first, [...rest.slice(0, 9), EXPLAINED]);
}

function problemOf(error: ErrorObject): ProfileProblem {
  const path = pointerSteps(error.instancePath);
  const extra = error.keyword === 'additionalProperties' ? String(error.params.additionalProperty) : undefined;
  if (extra !== undefined) return { path: [...path, extra], message: 'is no field of a profile' };
  return { path, message: schemaMessage(error) };
}

/** `profile.yaml:12: variants[canal].agent.ready: must have required property 'type'` */
function factOf({ path, message }: ProfileProblem, merged: unknown, source: Source): string {
  return `${source.fileName}:${lineOf(source, ownPath(merged, source.own, path))}: ${fieldText(merged, path)}: ${message}`;
}

function schemaMessage({ keyword, message = 'is wrong', params }: ErrorObject): string {
  if (keyword === 'required') return `field ${String(params.missingProperty)} is missing`;
  if (keyword === 'enum') return `must be one of ${(params.allowedValues as readonly unknown[]).join(', ')}`;
  if (keyword === 'discriminator') return 'type is missing or unknown';
  return message;
}

/** Line of the deepest part of the path that the user's text has; of a map's field the line of its key. */
function lineOf({ document, lines }: Pick<Source, 'document' | 'lines'>, path: readonly (string | number)[]): number {
  for (let length = path.length; length > 0; length--) {
    const parent = document.getIn(path.slice(0, length - 1), true);
    const position = positionIn(parent, path[length - 1]);
    if (position !== undefined) return lines.linePos(position).line;
  }
  return 1;
}

interface Ranged {
  readonly range?: readonly number[] | null;
}

function positionIn(parent: unknown, step: string | number | undefined): number | undefined {
  const items = (parent as { readonly items?: readonly unknown[] } | undefined)?.items;
  if (typeof step === 'number') return (items?.[step] as Ranged | undefined)?.range?.[0];
  const pair = items?.find((item) => (item as { readonly key?: { readonly value?: unknown } }).key?.value === step);
  return (pair as { readonly key?: Ranged } | undefined)?.key?.range?.[0];
}

function fieldText(merged: unknown, path: readonly string[]): string {
  let here: unknown = merged;
  let text = '';
  for (const step of path) {
    const item = (here as Readonly<Record<string, unknown>> | undefined)?.[step];
    const id = (item as { readonly id?: unknown } | undefined)?.id;
    text += Array.isArray(here) ? `[${typeof id === 'string' ? id : step}]` : `${text === '' ? '' : '.'}${step}`;
    here = item;
  }
  return text === '' ? 'the profile' : text;
}

/** What is wrong with a profile beyond its shape, by the path of the field. */
interface ProfileProblem {
  readonly path: readonly string[];
  readonly message: string;
}

/** Of two items with one `id` in a list, one would be dropped without a word. */
function repeatedIds(source: Source): readonly string[] {
  return Object.entries(source.own).flatMap(([field, list]) => {
    const ids = Array.isArray(list) ? list.map((item: unknown) => textAt(item, 'id')) : [];
    return ids.flatMap((id, index) =>
      id !== undefined && ids.indexOf(id) < index
        ? [`${source.fileName}:${lineOf(source, [field, index])}: ${field}[${id}]: the list has an item of this id already`]
        : [],
    );
  });
}

/** Only kinds that are listed are read: a condition on any other would never hold. */
function pluralProblems({ defects = [], cli: { kinds }, removedKinds, clusterInformation }: Profile): readonly ProfileProblem[] {
  if (!kinds) return [];
  const read = [...kinds.cluster, ...kinds.namespaced, ...removedKinds.map(({ plural }) => plural), clusterInformation.plural];
  return defects.flatMap(({ when }, index) =>
    when.flatMap((one, at) => {
      const unknown = one.type === 'resource' ? one.plurals.findIndex((plural) => !read.includes(plural)) : -1;
      const path = ['defects', String(index), 'when', String(at), 'plurals', String(unknown)];
      return unknown < 0 ? [] : [{ path, message: 'is no kind of cli.kinds or removedKinds, so it is not read' }];
    }),
  );
}

/** Ranges of releases and versions that end before they begin, and fixes that are older than the end of the defect. */
function rangeProblems({ defects = [] }: Profile): readonly ProfileProblem[] {
  return defects.flatMap(({ releases, when, fixedIn, advice }, index) => {
    const path = ['defects', String(index)];
    const { before } = releases;
    const isEarly = fixedIn !== undefined && (before === undefined || isOlder(fixedIn, before));
    return [
      ...rangeFaults(releases, [...path, 'releases']),
      ...when.flatMap((one, at) => conditionProblems(one, [...path, 'when', String(at)])),
      ...(isEarly ? [{ path: [...path, 'fixedIn'], message: `${fixedIn} is of the range that has the defect` }] : []),
      ...(fixedIn === undefined && advice === undefined ? [{ path, message: 'field fixedIn or advice is missing' }] : []),
    ];
  });
}

function conditionProblems(condition: DefectCondition, path: readonly string[]): readonly ProfileProblem[] {
  if (condition.type === 'upgradeFrom') return rangeFaults(condition.releases, [...path, 'releases']);
  if (condition.type !== 'node') return [];
  const { field, startsWith, from, before } = condition;
  if (field === 'architecture' && (from || before))
    return [{ path: [...path, from ? 'from' : 'before'], message: 'an architecture has no version' }];
  if (!startsWith && !from && !before) return [{ path, message: 'one of startsWith, from, before is missing' }];
  if (!from || !before || compareVersions(from, before) < 0) return [];
  return [{ path: [...path, 'before'], message: `the range ends before ${before}, and begins at ${from}` }];
}

function rangeFaults({ from, before, backports = [] }: ReleaseRange, path: readonly string[]): readonly ProfileProblem[] {
  const beside = backports.find((one) => !isOlder(from, one) || (before !== undefined && !isOlder(one, before)));
  const isEmpty = before !== undefined && !isOlder(from, before);
  return [
    ...(isEmpty ? [{ path: [...path, 'before'], message: `the range ends before ${before}, and begins at ${from}` }] : []),
    ...(beside === undefined ? [] : [{ path: [...path, 'backports'], message: `${beside} is not within the range` }]),
  ];
}

/** Lists whose items all carry an `id` are merged item by item; every other list is taken whole. */
function idOf(item: unknown): string | undefined {
  return isRecord(item) && typeof item.id === 'string' ? item.id : undefined;
}

function hasIds(list: unknown): list is readonly JsonMap[] {
  return Array.isArray(list) && list.every((item) => idOf(item) !== undefined);
}

/**
 * The user's profile laid over a shipped one: maps key by key, lists of items with an `id` item by item (new ones at the end),
 * everything else replaced. `null` removes what the shipped profile has.
 */
export function extend(base: unknown, own: unknown): unknown {
  if (own === undefined) return base;
  if (isRecord(base) && isRecord(own)) {
    const keys = [...new Set([...Object.keys(base), ...Object.keys(own)])].filter((key) => own[key] !== null);
    return Object.fromEntries(keys.map((key) => [key, extend(base[key], own[key])]));
  }
  if (hasIds(base) && hasIds(own) && own.length > 0) {
    const changed = base.map((item) =>
      extend(
        item,
        own.find((mine) => mine.id === item.id),
      ),
    );
    return [...changed, ...own.filter((mine) => !base.some((item) => item.id === mine.id))];
  }
  return own;
}

/** A path into the merged profile as a path into the user's own text: items with an `id` stand elsewhere there. */
export function ownPath(merged: unknown, own: unknown, path: readonly string[]): readonly (string | number)[] {
  const [step, ...rest] = path;
  if (step === undefined || typeof merged !== 'object' || merged === null) return [];
  const next = (merged as JsonMap)[step];
  if (!Array.isArray(merged)) return [step, ...ownPath(next, isRecord(own) ? own[step] : undefined, rest)];
  const index = Array.isArray(own) && idOf(next) !== undefined ? own.findIndex((item) => idOf(item) === idOf(next)) : Number(step);
  return [index, ...ownPath(next, Array.isArray(own) ? own[index] : undefined, rest)];
}
