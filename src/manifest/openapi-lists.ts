import { isRecord, type JsonMap, jsonAt, mapAt } from '../kernel/json.ts';
import { groupOf, type KubeObject } from '../kernel/object.ts';
import { type KeptRules, type KindRules, type ListRules, rulesOf, type SchemaRule } from '../kube/list-keys.ts';

type Schema = JsonMap;

const REF = '#/components/schemas/';

/** The schemas of a document of `/openapi/v3`, which is of one group and version, by name. */
type Schemas = JsonMap;

function schemaOf(schemas: Schemas, apiVersion: string, kind: string): Schema | undefined {
  const group = groupOf(apiVersion);
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
  const isIt = (one: unknown) => isRecord(one) && one.group === group && one.version === version && one.kind === kind;
  return Object.values(schemas)
    .filter(isRecord)
    .find((schema) => listOf(schema['x-kubernetes-group-version-kind']).some(isIt));
}

/** The name of the schema that another refers to, directly or as its only `allOf`. */
function refOf(schema: Schema): string | undefined {
  const all = listOf(schema.allOf);
  const ref = schema.$ref ?? (all.length === 1 ? jsonAt(all[0], '$ref') : undefined);
  return typeof ref === 'string' && ref.startsWith(REF) ? ref.slice(REF.length) : undefined;
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** How the server distinguishes the items of each list of a kind; undefined if the document has no schema of it. */
export function listRulesOf(document: unknown, apiVersion: string, kind: string): KindRules | undefined {
  const schemas = mapAt(document, 'components', 'schemas');
  const root = schemaOf(schemas, apiVersion, kind);
  return root && new Map(rulesIn(schemas, root));
}

/** `within`: names of the schemas that led here, for some have no end. */
function* rulesIn(schemas: Schemas, schema: Schema, path = '', within: readonly string[] = []): Generator<readonly [string, SchemaRule]> {
  const ref = refOf(schema);
  const plain = resolved(schemas, schema);
  if (ref !== undefined && within.includes(ref)) return;
  const inside = ref === undefined ? within : [...within, ref];
  const { items, properties } = plain;
  if (isRecord(items)) {
    // What the field says of the list counts more than what its type does.
    const rule = ruleOf({ ...plain, ...schema }, resolved(schemas, items));
    if (rule !== undefined) yield [path, rule];
    yield* rulesIn(schemas, items, path, inside);
  }
  if (!isRecord(properties)) return;
  for (const [name, field] of Object.entries(properties))
    if (isRecord(field)) yield* rulesIn(schemas, field, path === '' ? name : `${path}.${name}`, inside);
}

function resolved(schemas: Schemas, schema: Schema): Schema {
  const ref = refOf(schema);
  const found = ref === undefined ? undefined : jsonAt(schemas, ref);
  return isRecord(found) ? found : schema;
}

/**
 * What the server merges by: map keys, which for ports are more than the patch's merge key; the latter only where a server knows no other.
 * Undefined if the schema is silent, as on old servers.
 */
function ruleOf(list: Schema, item: Schema): SchemaRule | undefined {
  const type = list['x-kubernetes-list-type'];
  if (type === 'atomic' || type === 'set') return type;
  const keys = listOf(list['x-kubernetes-list-map-keys']).filter((key) => typeof key === 'string');
  const merge = list['x-kubernetes-patch-merge-key'];
  const isMerged = String(list['x-kubernetes-patch-strategy']).split(',').includes('merge');
  const by = type === 'map' && keys.length > 0 ? keys : isMerged && typeof merge === 'string' ? [merge] : undefined;
  if (!by) return undefined;
  const properties = jsonAt(item, 'properties');
  const defaults = by.map((key) => [key, jsonAt(jsonAt(properties, key), 'default')] as const);
  return { keys: by, defaults: Object.fromEntries(defaults.filter(([, value]) => !isNothing(value))) };
}

/** Schemas give required fields a default of `0` or an empty text, too: it makes no key. */
function isNothing(value: unknown): boolean {
  return value === undefined || value === 0 || value === '';
}

/** Of the server's rules those for lists that these objects have: what writing their text needs, and no more is kept. */
export function rulesToKeep(rules: ListRules | undefined, objects: readonly KubeObject[]): KeptRules {
  const kept = objects.flatMap((object) => {
    const known = rulesOf(object, rules);
    const paths = known ? [...new Set(listPaths(object, ''))] : [];
    const needed = paths.flatMap((path) => {
      const rule = known?.get(path);
      return rule === undefined ? [] : [[path, rule] as const];
    });
    return needed.length > 0 ? [[`${object.apiVersion} ${object.kind}`, needed] as const] : [];
  });
  const byKind = Map.groupBy(kept, ([kind]) => kind);
  return Object.fromEntries([...byKind].map(([kind, all]) => [kind, Object.fromEntries(all.flatMap(([, needed]) => needed))]));
}

/** The same as a merge takes them; undefined if none were kept, and the table applies. */
export function keptRules(kept: KeptRules | undefined): ListRules | undefined {
  return kept && new Map(Object.entries(kept).map(([kind, rules]) => [kind, new Map(Object.entries(rules))]));
}

/** Names of fields alone, without items: `spec.template.spec.containers.env`. */
function* listPaths(value: unknown, path: string): Generator<string> {
  if (Array.isArray(value)) {
    yield path;
    for (const item of value) yield* listPaths(item, path);
  } else if (isRecord(value)) {
    for (const [name, field] of Object.entries(value)) yield* listPaths(field, path === '' ? name : `${path}.${name}`);
  }
}
