import { isJsonMap } from '../core/json-map.ts';
import { holdsRule } from './schema-rules.ts';

/** A structural schema, as a CRD holds it. Only what is judged here is named. */
export interface Schema {
  readonly type?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
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
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-validations'?: readonly { readonly rule?: string; readonly message?: string }[];
  readonly default?: unknown;
}

/** A value that the target's CRD would refuse: where, and why. */
export interface Violation {
  readonly path: string;
  readonly because: string;
}

/**
 * Judges a stored value by the target's schema, as the API server does at the next write (domain §4.6): types, enums, patterns,
 * required fields, bounds, sets, and those validation rules that schema-rules knows. Unknown fields are pruned by the server and are no fault.
 */
export function violations(value: unknown, schema: Schema, path = ''): readonly Violation[] {
  if (value === null && (schema.nullable === true || schema.default !== undefined)) return [];
  const wrong = typeViolation(value, schema);
  if (wrong) return [{ path, because: wrong }];
  const own = [...scalarViolations(value, schema), ...ruleViolations(value, schema)].map((because) => ({ path, because }));
  if (isJsonMap(value)) return [...own, ...fieldViolations(value, schema, path)];
  if (Array.isArray(value)) return [...own, ...itemViolations(value, schema, path)];
  return own;
}

function typeViolation(value: unknown, schema: Schema): string | undefined {
  const { type } = schema;
  if (type === undefined || schema['x-kubernetes-int-or-string']) return undefined;
  if (type === 'integer') return Number.isInteger(value) ? undefined : `must be an integer, not ${shown(value)}`;
  if (type === 'array') return Array.isArray(value) ? undefined : `must be a list, not ${shown(value)}`;
  if (type === 'object') return isJsonMap(value) ? undefined : `must be an object, not ${shown(value)}`;
  const is = value === null ? 'null' : typeof value;
  return is === type ? undefined : `must be a ${type}, not ${shown(value)}`;
}

function scalarViolations(value: unknown, schema: Schema): readonly string[] {
  const found: string[] = [];
  if (schema.enum && !schema.enum.includes(value)) found.push(`${shown(value)} is not one of ${schema.enum.map(shown).join(', ')}`);
  if (typeof value === 'string') {
    if (schema.pattern !== undefined && !matches(value, schema.pattern)) found.push(`${shown(value)} does not match ${schema.pattern}`);
    found.push(...boundViolations(value.length, 'characters', schema.minLength, schema.maxLength));
  }
  if (typeof value === 'number') found.push(...boundViolations(value, '', schema.minimum, schema.maximum));
  return found;
}

function boundViolations(size: number, unit: string, least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY): readonly string[] {
  if (size < least) return [`${size} ${unit} is less than ${least}`.replace('  ', ' ')];
  return size > most ? [`${size} ${unit} is more than ${most}`.replace('  ', ' ')] : [];
}

/** A repetition of a repetition can take for ever on a long text that does not match: such texts are not judged. */
const NESTED = /[+*]\)[+*]/;
const LONG = 24;

function matches(value: string, pattern: string): boolean {
  if (NESTED.test(pattern) && value.length > LONG) return true;
  const insensitive = pattern.includes('(?i)');
  try {
    return new RegExp(pattern.replaceAll('(?i)', ''), insensitive ? 'i' : '').test(value);
  } catch {
    return true;
  }
}

function ruleViolations(value: unknown, schema: Schema): readonly string[] {
  return (schema['x-kubernetes-validations'] ?? [])
    .filter(({ rule }) => rule !== undefined && holdsRule(rule, value) === false)
    .map(({ rule, message }) => message ?? `breaks the rule ${rule}`);
}

function fieldViolations(value: Readonly<Record<string, unknown>>, schema: Schema, path: string): readonly Violation[] {
  const properties = schema.properties ?? {};
  const missing = (schema.required ?? [])
    .filter((field) => value[field] === undefined && properties[field]?.default === undefined)
    .map((field) => ({ path: join(path, field), because: 'is required' }));
  const inner = Object.entries(value).flatMap(([field, content]) => {
    const other = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
    const next = Object.hasOwn(properties, field) ? properties[field] : other;
    return next ? violations(content, next, join(path, field)) : [];
  });
  return [...missing, ...inner];
}

function itemViolations(value: readonly unknown[], schema: Schema, path: string): readonly Violation[] {
  const own = boundViolations(value.length, 'items', schema.minItems, schema.maxItems).map((because) => ({ path, because }));
  const keys = value.map((item) => JSON.stringify(item));
  const twice = schema['x-kubernetes-list-type'] === 'set' && new Set(keys).size < keys.length;
  const { items } = schema;
  const inner = items ? value.flatMap((item, index) => violations(item, items, `${path}[${index}]`)) : [];
  return [...own, ...(twice ? [{ path, because: 'holds an entry twice' }] : []), ...inner];
}

function join(path: string, field: string): string {
  return path === '' ? field : `${path}.${field}`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
