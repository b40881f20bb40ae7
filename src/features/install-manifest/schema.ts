import { isRecord, type JsonMap } from '../../kernel/json.ts';
import { holdsFormat, holdsRule, matchesPattern } from './schema-rules.ts';

/** A structural schema, as a CRD holds it. Only what is evaluated here is named. */
export interface Schema {
  readonly type?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly format?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-validations'?: readonly { readonly rule?: string; readonly message?: string }[];
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly default?: unknown;
}

/** What is said of a value: where, and why. */
interface Violation {
  readonly path: string;
  readonly because: string;
}

/** What one keyword of a schema says of a value; only the server knows of `unjudged`. */
interface Said {
  readonly because: string;
  readonly unjudged?: true;
}
type Found = Violation & Said;

/**
 * Evaluates a stored value by the target's schema with defaults, as the API server does at the next write (domain §4.6). It knows types,
 * enums, patterns, formats, required fields, bounds, sets, and the validation rules of schema-rules. Unknown fields are pruned, so no
 * fault; `unjudged` is what only the server can evaluate: by itself it is neither right nor wrong.
 */
export function judgeBySchema(value: unknown, schema: Schema) {
  const said = found(defaulted(value, schema), schema, '');
  const { no = [], unjudged = [] } = Object.groupBy(said, (one) => (one.unjudged ? 'unjudged' : 'no'));
  const bare = ({ path, because }: Found): Violation => ({ path, because });
  return { violations: no.map(bare), unjudged: unjudged.map(bare) };
}

function found(value: unknown, schema: Schema, path: string): readonly Found[] {
  if (value === null && schema.nullable === true) return [];
  const wrong = typeViolation(value, schema);
  if (wrong) return [{ path, because: wrong }];
  const isScalar = typeof value !== 'object';
  const bounds = boundsSaid(value, schema);
  const said = [...scalarSaid(value, schema), ...(isScalar ? bounds : []), ...combinedSaid(value, schema), ...rulesSaid(value, schema)];
  return [...[...said, ...(isScalar ? [] : bounds)].map((one) => ({ path, ...one })), ...partsFound(value, schema, path)];
}

function typeViolation(value: unknown, schema: Schema): string | undefined {
  const { type } = schema;
  if (type === undefined || schema['x-kubernetes-int-or-string']) return undefined;
  if (type === 'integer') return Number.isInteger(value) ? undefined : `must be an integer, not ${shown(value)}`;
  if (type === 'array') return Array.isArray(value) ? undefined : `must be a list, not ${shown(value)}`;
  if (type === 'object') return isRecord(value) ? undefined : `must be an object, not ${shown(value)}`;
  const is = value === null ? 'null' : typeof value;
  return is === type ? undefined : `must be a ${type}, not ${shown(value)}`;
}

function scalarSaid(value: unknown, { enum: allowed, pattern, format }: Schema): readonly Said[] {
  const other = allowed && !allowed.includes(value) ? [{ because: `${shown(value)} is not one of ${allowed.map(shown).join(', ')}` }] : [];
  if (typeof value !== 'string') return other;
  return [
    ...other,
    ...(pattern === undefined
      ? []
      : verdict(matchesPattern(value, pattern), `${shown(value)} does not match ${pattern}`, `pattern ${pattern}`)),
    ...(format === undefined ? [] : verdict(holdsFormat(format, value), `${shown(value)} is not of format ${format}`, `format ${format}`)),
  ];
}

/** `holds` undefined: only the server knows. */
function verdict(holds: boolean | undefined, because: string, asked: string): readonly Said[] {
  if (holds === undefined) return [{ because: asked, unjudged: true }];
  return holds ? [] : [{ because }];
}

const INT32 = 2 ** 31;

function boundsSaid(value: unknown, schema: Schema): readonly Said[] {
  if (isRecord(value)) return sizeSaid(Object.keys(value).length, ' fields', schema.minProperties, schema.maxProperties);
  if (Array.isArray(value)) return sizeSaid(value.length, ' items', schema.minItems, schema.maxItems);
  // The server counts characters, not their halves.
  if (typeof value === 'string') return sizeSaid([...value].length, ' characters', schema.minLength, schema.maxLength);
  if (typeof value !== 'number') return [];
  const fits = schema.type !== 'integer' || schema.format !== 'int32' || (value >= -INT32 && value < INT32);
  const said = sizeSaid(value, '', schema.minimum, schema.maximum);
  return fits ? said : [...said, { because: `${value} does not fit into 32 bits` }];
}

function sizeSaid(size: number, unit: string, least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY): readonly Said[] {
  if (size < least) return [{ because: `${size}${unit} is less than ${least}` }];
  return size > most ? [{ because: `${size}${unit} is more than ${most}` }] : [];
}

/** Schemas joined to one value. `anyOf` of an integer or a string is what its own marker says already. */
function combinedSaid(value: unknown, schema: Schema): readonly Said[] {
  const { allOf = [], anyOf = [], oneOf, not } = schema;
  const said = (one: Schema) => found(value, one, '').map(({ path: _, ...rest }): Said => rest);
  const any = schema['x-kubernetes-int-or-string'] ? [] : anySaid(anyOf.map(said));
  const left = [...(oneOf ? ['oneOf'] : []), ...(not ? ['not'] : [])].map((because): Said => ({ because, unjudged: true }));
  return [...allOf.flatMap(said), ...any, ...left];
}

/** Nothing if one schema surely accepts the value or may; else why the first refuses it. */
function anySaid(each: readonly (readonly Said[])[]): readonly Said[] {
  if (each.some((said) => said.length === 0)) return [];
  const open = each.filter((said) => said.every(({ unjudged }) => unjudged)).flat();
  const refusals = each[0]?.filter(({ unjudged }) => !unjudged) ?? [];
  return open.length > 0 ? open : refusals.slice(0, 1);
}

function rulesSaid(value: unknown, schema: Schema): readonly Said[] {
  return (schema['x-kubernetes-validations'] ?? []).flatMap(({ rule, message }) =>
    rule === undefined
      ? []
      : verdict(holdsRule(rule, value), message ?? `breaks the rule ${rule}`, `rule ${rule.trim().replace(/\s+/g, ' ')}`),
  );
}

/** What is said of fields and items. */
function partsFound(value: unknown, schema: Schema, path: string): readonly Found[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    const twice = holdsTwice(value, schema) ? [{ path, because: 'holds an entry twice' }] : [];
    return items ? [...twice, ...value.flatMap((item, index) => found(item, items, `${path}[${index}]`))] : twice;
  }
  if (!isRecord(value)) return [];
  const missing = (schema.required ?? []).filter((field) => value[field] === undefined);
  const inner = Object.entries(value).flatMap(([field, content]) => {
    const next = fieldOf(field, schema);
    return next ? found(content, next, join(path, field)) : [];
  });
  return [...missing.map((field) => ({ path: join(path, field), because: 'is required' })), ...inner];
}

/** The schema of a field; undefined where nothing is said of it. */
function fieldOf(field: string, { properties = {}, additionalProperties }: Schema): Schema | undefined {
  if (Object.hasOwn(properties, field)) return properties[field];
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

/** Fields that the API server drops because the schema does not have them; of each path the beginning that is lost. */
export function prunedFields(value: unknown, schema: Schema, path = ''): readonly string[] {
  const { items, additionalProperties } = schema;
  if (Array.isArray(value)) return items ? value.flatMap((item, index) => prunedFields(item, items, `${path}[${index}]`)) : [];
  if (!isRecord(value)) return [];
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true || additionalProperties === true;
  return Object.entries(value).flatMap(([field, content]) => {
    const own = fieldOf(field, schema);
    if (own) return prunedFields(content, own, join(path, field));
    return isOpen ? [] : [join(path, field)];
  });
}

/** Of a set, the same entry; of a map, two with the same keys. */
function holdsTwice(value: readonly unknown[], schema: Schema): boolean {
  const type = schema['x-kubernetes-list-type'];
  if (type !== 'set' && type !== 'map') return false;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const idOf = (item: unknown) => (type === 'map' && isRecord(item) ? keys.map((key) => item[key] ?? null) : item);
  return new Set(value.map((item) => JSON.stringify(idOf(item)))).size < value.length;
}

function join(path: string, field: string): string {
  return path === '' ? field : `${path}.${field}`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

/** The value as the API server evaluates it: null removed from non-nullable fields, defaults filled in, list items kept. */
function defaulted(value: unknown, schema: Schema): unknown {
  if (value === null) return schema.nullable === true || schema.default === undefined ? null : defaulted(schema.default, schema);
  if (isRecord(value)) return filledIn(value, schema);
  const { items } = schema;
  return Array.isArray(value) && items ? value.map((item) => defaulted(item, items)) : value;
}

function filledIn(value: JsonMap, schema: Schema): JsonMap {
  const there = Object.entries(value).flatMap(([field, content]) => {
    const own = fieldOf(field, schema);
    if (!own) return [[field, content] as const];
    const after = defaulted(content, own);
    return after === null && own.nullable !== true ? [] : [[field, after] as const];
  });
  const missing = Object.entries(schema.properties ?? {}).flatMap(([field, own]) =>
    own.default === undefined || value[field] !== undefined ? [] : [[field, defaulted(own.default, own)] as const],
  );
  return Object.fromEntries([...there, ...missing]);
}
