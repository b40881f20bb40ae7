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
  readonly default?: unknown;
}

/** What is said of a value: where, and why. */
export interface Violation {
  readonly path: string;
  readonly because: string;
}

export interface Judgement {
  /** What the target's CRD would refuse. */
  readonly violations: readonly Violation[];
  /** What only the server can evaluate: by itself it is neither right nor wrong. */
  readonly unjudged: readonly Violation[];
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
 * fault; what cannot be evaluated here is marked.
 */
export function judgeBySchema(value: unknown, schema: Schema): Judgement {
  const said = found(defaulted(value, schema), schema, '');
  const { no = [], unjudged = [] } = Object.groupBy(said, (one) => (one.unjudged ? 'unjudged' : 'no'));
  const bare = ({ path, because }: Found): Violation => ({ path, because });
  return { violations: no.map(bare), unjudged: unjudged.map(bare) };
}

function found(value: unknown, schema: Schema, path: string): readonly Found[] {
  if (value === null && schema.nullable === true) return [];
  const wrong = typeViolation(value, schema);
  if (wrong) return [{ path, because: wrong }];
  const said = [...scalarSaid(value, schema), ...combinedSaid(value, schema), ...rulesSaid(value, schema)];
  const own = said.map((one) => ({ path, ...one }));
  if (isRecord(value)) return [...own, ...fieldsFound(value, schema, path)];
  if (Array.isArray(value)) return [...own, ...itemsFound(value, schema, path)];
  return own;
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

function scalarSaid(value: unknown, schema: Schema): readonly Said[] {
  const said: Said[] = [];
  if (schema.enum && !schema.enum.includes(value))
    said.push({ because: `${shown(value)} is not one of ${schema.enum.map(shown).join(', ')}` });
  if (typeof value === 'string') said.push(...textSaid(value, schema));
  if (typeof value === 'number') said.push(...boundsSaid(value, '', schema.minimum, schema.maximum), ...sizeSaid(value, schema));
  return said;
}

function textSaid(value: string, { pattern, format, minLength, maxLength }: Schema): readonly Said[] {
  return [
    ...(pattern === undefined
      ? []
      : verdict(matchesPattern(value, pattern), `${shown(value)} does not match ${pattern}`, `pattern ${pattern}`)),
    ...(format === undefined ? [] : verdict(holdsFormat(format, value), `${shown(value)} is not of format ${format}`, `format ${format}`)),
    // The server counts characters, not their halves.
    ...boundsSaid([...value].length, 'characters', minLength, maxLength),
  ];
}

/** `holds` undefined: only the server knows. */
function verdict(holds: boolean | undefined, because: string, asked: string): readonly Said[] {
  if (holds === undefined) return [{ because: asked, unjudged: true }];
  return holds ? [] : [{ because }];
}

const INT32 = 2 ** 31;

function sizeSaid(value: number, { type, format }: Schema): readonly Said[] {
  const fits = type !== 'integer' || format !== 'int32' || (value >= -INT32 && value < INT32);
  return fits ? [] : [{ because: `${value} does not fit into 32 bits` }];
}

/** Schemas joined to one value. `anyOf` of an integer or a string is what its own marker says already. */
function combinedSaid(value: unknown, schema: Schema): readonly Said[] {
  const { allOf = [], anyOf = [], oneOf, not } = schema;
  const every = allOf.flatMap((one) => found(value, one, '').map(({ path: _, ...said }) => said));
  const any = schema['x-kubernetes-int-or-string'] ? [] : anySaid(anyOf.map((one) => found(value, one, '')));
  const left = [...(oneOf ? ['oneOf'] : []), ...(not ? ['not'] : [])].map((because): Said => ({ because, unjudged: true }));
  return [...every, ...any, ...left];
}

/** Nothing if one schema surely accepts the value or may; else why the first refuses it. */
function anySaid(each: readonly (readonly Found[])[]): readonly Said[] {
  if (each.some((said) => said.length === 0)) return [];
  const refusals = each.map((said) => said.find(({ unjudged }) => !unjudged));
  const open = each.filter((_, index) => refusals[index] === undefined).flat();
  const told = open.length > 0 ? open : refusals.slice(0, 1);
  return told.flatMap((one) => (one ? [{ because: one.because, ...(one.unjudged ? { unjudged: true as const } : {}) }] : []));
}

function boundsSaid(size: number, unit: string, least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY): readonly Said[] {
  if (size < least) return [{ because: `${size} ${unit} is less than ${least}`.replace('  ', ' ') }];
  return size > most ? [{ because: `${size} ${unit} is more than ${most}`.replace('  ', ' ') }] : [];
}

function rulesSaid(value: unknown, schema: Schema): readonly Said[] {
  return (schema['x-kubernetes-validations'] ?? []).flatMap(({ rule, message }) =>
    rule === undefined ? [] : verdict(holdsRule(rule, value), message ?? `breaks the rule ${rule}`, `rule ${oneLine(rule)}`),
  );
}

function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}

function fieldsFound(value: Readonly<Record<string, unknown>>, schema: Schema, path: string): readonly Found[] {
  const counted = boundsSaid(Object.keys(value).length, 'fields', schema.minProperties, schema.maxProperties);
  const properties = schema.properties ?? {};
  const missing = (schema.required ?? [])
    .filter((field) => value[field] === undefined)
    .map((field) => ({ path: join(path, field), because: 'is required' }));
  const inner = Object.entries(value).flatMap(([field, content]) => {
    const other = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
    const next = Object.hasOwn(properties, field) ? properties[field] : other;
    return next ? found(content, next, join(path, field)) : [];
  });
  return [...counted.map((one) => ({ path, ...one })), ...missing, ...inner];
}

function itemsFound(value: readonly unknown[], schema: Schema, path: string): readonly Found[] {
  const own = boundsSaid(value.length, 'items', schema.minItems, schema.maxItems).map((one) => ({ path, ...one }));
  const { items } = schema;
  const inner = items ? value.flatMap((item, index) => found(item, items, `${path}[${index}]`)) : [];
  return [...own, ...(holdsTwice(value, schema) ? [{ path, because: 'holds an entry twice' }] : []), ...inner];
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

function filledIn(value: JsonMap, { properties = {}, additionalProperties }: Schema): JsonMap {
  const others = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  const there = Object.entries(value).flatMap(([field, content]) => {
    const schema = Object.hasOwn(properties, field) ? properties[field] : others;
    if (!schema) return [[field, content] as const];
    const after = defaulted(content, schema);
    return after === null && schema.nullable !== true ? [] : [[field, after] as const];
  });
  const missing = Object.entries(properties).flatMap(([field, schema]) =>
    schema.default === undefined || value[field] !== undefined ? [] : [[field, defaulted(schema.default, schema)] as const],
  );
  return Object.fromEntries([...there, ...missing]);
}
