import { isRecord, type JsonMap, jsonAt, mapAt } from '../kernel/json.ts';
import { keyFields } from '../kube/list-keys.ts';
import { alike, itemsOf } from './alike.ts';
import { mergeItems } from './merge-items.ts';
import { mergeCommaList, mergeImage, mergeJsonText, mergeSequence } from './merge-values.ts';
import { askedAt, inField, type Place, ruleAt, settle, type Three, tell, type Walk } from './walk.ts';

/** Maps of which each entry makes sense without the others: an entry can be added although the release dropped all of its own. */
const STANDS_ALONE = new Set([
  'metadata',
  'labels',
  'annotations',
  'nodeSelector',
  'data',
  'resources',
  'limits',
  'requests',
  'securityContext',
  'capabilities',
]);

/** Fields of metadata that Kubernetes knows: others make a server refuse the whole object. */
const METADATA = new Set(['name', 'namespace', 'generateName', 'labels', 'annotations', 'finalizers', 'ownerReferences']);

/** Result = theirs + (mine − base), field by field; undefined = absent. */
export function mergeField(walk: Walk, place: Place, three: Three): unknown {
  const { base, mine, theirs } = three;
  if (base === undefined && mine === undefined) return settle(walk, place, three);
  // Another release would make the whole item the user's, so it is decided as one.
  if (place.path !== '' && [mine, theirs].some(isRecord) && askedAt(walk, place) !== undefined) return settle(walk, place, three);
  const states = [base, mine, theirs].filter((state) => state !== undefined);
  const addedAlike = base === undefined && alike(mine, theirs, { name: place.name, strict: place.json, entry: place.entry ?? false });
  if (mine !== undefined && (base !== undefined || theirs !== undefined) && !addedAlike) {
    if (states.every(isRecord)) return mergeRecord(walk, place, three);
    if (states.every(Array.isArray)) return mergeList(walk, place, three);
  }
  // A list without items counts as absent: each removed item is its own edit.
  if (mine === undefined && Array.isArray(base) && Array.isArray(theirs) && itemsOf(place.name, base, ruleAt(walk, place)))
    return mergeList(walk, place, three);
  return mergeScalar(walk, place, three);
}

function mergeScalar(walk: Walk, place: Place, three: Three): unknown {
  if ((walk.mode !== 'merge' && !walk.intoTexts) || place.json) return settle(walk, place, three);
  if (place.name === 'image' && walk.mode === 'merge') return mergeImage(walk, place, three);
  const json = mergeJsonText(walk, place, three, mergeField);
  return json ? json.text : settle(walk, place, three);
}

/** An absent record counts as empty where another has members; one that existed and is not in the target is gone. */
function mergeRecord(walk: Walk, place: Place, three: Three): unknown {
  if (walk.mode === 'mine' && three.theirs === undefined && place.name.endsWith('[]')) return settle(walk, place, three);
  const [mine, theirs] = [mapAt(three.mine), mapAt(three.theirs)];
  const base = three.base === undefined ? keysIn(walk, place, mine) : mapAt(three.base);
  const dropped = three.base !== undefined && three.theirs === undefined && !STANDS_ALONE.has(place.name);
  const within = { ...place, gone: place.gone || dropped };
  if (place.name === 'env[]') return mergeVariable(walk, within, three);
  const merged = new Map<string, unknown>();
  const grouped = mergeOneOf(walk, within, { base, mine, theirs }, merged);
  for (const name of new Set([...Object.keys(theirs), ...Object.keys(mine), ...Object.keys(base)])) {
    if (grouped.has(name)) continue;
    const inner = { base: present(jsonAt(base, name)), mine: present(jsonAt(mine, name)), theirs: present(jsonAt(theirs, name)) };
    merged.set(name, isUnknown(walk, place, name, inner) ? undefined : mergeField(walk, inField(within, name), inner));
  }
  const order = [...new Set([...Object.keys(theirs), ...Object.keys(mine)])];
  const entries = order.map((name) => [name, merged.get(name)] as const).filter(([, value]) => value !== undefined);
  if (three.theirs === undefined && entries.length === 0) return undefined;
  return Object.fromEntries(entries);
}

/** What makes two additions the same item is no difference between them. */
function keysIn(walk: Walk, place: Place, item: JsonMap): JsonMap {
  const { name } = place;
  if (!name.endsWith('[]')) return {};
  const rule = ruleAt(walk, place);
  if (typeof rule === 'object') return subset(item, rule.keys);
  const listName = name.slice(0, -2);
  return subset(item, listName === 'plugins' ? ['type'] : keyFields(listName, item));
}

function isUnknown(walk: Walk, place: Place, name: string, three: Three): boolean {
  if (walk.mode !== 'merge' || METADATA.has(name) || three.theirs !== undefined || three.base !== undefined) return false;
  if (place.path !== 'metadata' && !place.path.endsWith('template.metadata')) return false;
  tell(walk, inField(place, name), three, 'target', 'Kubernetes knows no such field and would refuse the object; correct its name.');
  return true;
}

function mergeList(walk: Walk, place: Place, three: Three): unknown {
  const lists = [three.base, three.mine, three.theirs].map((list) => (Array.isArray(list) ? list : []));
  const [base = [], mine = [], theirs = []] = lists;
  if (/^(command|args)$/.test(place.name) && walk.mode === 'merge') return mergeSequence(walk, place, three);
  const maps = lists.map((list) => itemsOf(place.name, list, ruleAt(walk, place)));
  const [b, m, t] = maps;
  if (!b || !m || !t || base.length + mine.length + theirs.length === 0) return settle(walk, place, three);
  const merged = mergeItems(walk, place, { base: b, mine: m, theirs: t }, mergeField);
  // A list without its last item is removed whole, unless the target has an empty one or the user keeps one that the target has.
  const isEmptyList = (list: unknown) => Array.isArray(list) && list.length === 0;
  return merged.length > 0 || (isEmptyList(three.mine) && !place.gone) || isEmptyList(three.theirs) ? merged : undefined;
}

/** Probes and hooks: the kind of question is one choice, its frequency another. */
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

/** `null` is as good as absent. */
function present(value: unknown): unknown {
  return value ?? undefined;
}

/** Members of which only one may exist are one value if a side chose another; returns the handled names. */
function mergeOneOf(
  walk: Walk,
  place: Place,
  { base, mine, theirs }: { readonly base: JsonMap; readonly mine: JsonMap; readonly theirs: JsonMap },
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
  const choice = (fields: JsonMap) => Object.keys(fields).toSorted().join();
  // If neither side chose another, or only the release did, the fields merge one by one.
  if (walk.mode !== 'merge' || choice(b) === choice(m)) return new Set();
  const result = settle(walk, place, { base: absentIfEmpty(b), mine: absentIfEmpty(m), theirs: absentIfEmpty(t) });
  for (const [name, value] of Object.entries(mapAt(result))) merged.set(name, value);
  return new Set(names);
}

/** Those of the named fields that are there. */
function subset(fields: JsonMap, names: readonly string[]): JsonMap {
  return Object.fromEntries(names.filter((name) => present(fields[name]) !== undefined).map((name) => [name, fields[name]]));
}

function absentIfEmpty(fields: JsonMap): JsonMap | undefined {
  return Object.keys(fields).length > 0 ? fields : undefined;
}

/** A variable has a value or a source, never both: they are one choice. */
function mergeVariable(walk: Walk, place: Place, three: Three): unknown {
  const name = mapAt(three.mine).name ?? mapAt(three.theirs).name;
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
  return content === undefined ? undefined : { name, ...mapAt(content) };
}

function contentOf(item: unknown): JsonMap {
  const { name: _, ...content } = mapAt(item);
  return content;
}

/** A variable without a value has an empty one. */
function textOf(content: JsonMap | undefined): unknown {
  return content === undefined ? undefined : (content.value ?? '');
}
