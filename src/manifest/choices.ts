import { isRecord } from '../kernel/json.ts';
import { mergeCommaList } from './merge-values.ts';
import { inField, type Place, settle, type Three, type Walk } from './walk.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** Probes and hooks: how to ask is one choice, how often to ask is another. */
const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'];

const ONE_OF: Readonly<Record<string, readonly string[]>> = {
  livenessProbe: HANDLERS,
  readinessProbe: HANDLERS,
  startupProbe: HANDLERS,
  preStop: HANDLERS,
  postStart: HANDLERS,
  strategy: ['type', 'rollingUpdate'],
  updateStrategy: ['type', 'rollingUpdate'],
};

/** The members of a map; none of anything else. */
export function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

/** `null` is as good as absent. */
export function present(value: unknown): unknown {
  return value ?? undefined;
}

/** Members of which only one may be there are one value where a side chose another; returns the names dealt with. */
export function mergeOneOf(
  walk: Walk,
  place: Place,
  { base, mine, theirs }: { readonly base: Fields; readonly mine: Fields; readonly theirs: Fields },
  merged: Map<string, unknown>,
): ReadonlySet<string> {
  const all = new Set([...Object.keys(base), ...Object.keys(mine), ...Object.keys(theirs)]);
  const listed =
    place.name === 'volumes[]'
      ? [...all].filter((name) => name !== 'name')
      : Object.hasOwn(ONE_OF, place.name)
        ? (ONE_OF[place.name] ?? [])
        : [];
  const names = listed.filter((name) => all.has(name));
  const [b, m, t] = [subset(base, names), subset(mine, names), subset(theirs, names)];
  const choice = (fields: Fields) => Object.keys(fields).toSorted().join();
  // Where nobody chose again, or the release did and the user did not, the fields merge one by one.
  if (walk.mode !== 'merge' || choice(b) === choice(m)) return new Set();
  const result = settle(walk, place, { base: absentIfEmpty(b), mine: absentIfEmpty(m), theirs: absentIfEmpty(t) });
  for (const [name, value] of Object.entries(fieldsOf(result))) merged.set(name, value);
  return new Set(names);
}

/** Those of the named fields that are there. */
export function subset(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(names.filter((name) => present(fields[name]) !== undefined).map((name) => [name, fields[name]]));
}

function absentIfEmpty(fields: Fields): Fields | undefined {
  return Object.keys(fields).length > 0 ? fields : undefined;
}

/** A variable has a value or a source, never both: they are one choice. */
export function mergeVariable(walk: Walk, place: Place, three: Three): unknown {
  const name = fieldsOf(three.mine).name ?? fieldsOf(three.theirs).name;
  const [base, mine, theirs] = [three.base, three.mine, three.theirs].map((item) => (item === undefined ? undefined : contentOf(item)));
  const states = [base, mine, theirs].filter((state) => state !== undefined);
  if (states.every((state) => Object.keys(state).every((field) => field === 'value'))) {
    const values = { base: textOf(base), mine: textOf(mine), theirs: textOf(theirs) };
    const at = inField(place, 'value');
    const value = walk.commaLists.has(String(name)) && walk.mode === 'merge' ? mergeCommaList(walk, at, values) : settle(walk, at, values);
    if (three.theirs === undefined && (walk.mode !== 'mine' || value === undefined)) return undefined;
    return value === undefined ? { name } : { name, value };
  }
  const content = settle(walk, place, { base, mine, theirs });
  return content === undefined ? undefined : { name, ...fieldsOf(content) };
}

function contentOf(item: unknown): Fields {
  const { name: _, ...content } = fieldsOf(item);
  return content;
}

/** A variable without a value has an empty one. */
function textOf(content: Fields | undefined): unknown {
  return content === undefined ? undefined : (content.value ?? '');
}
