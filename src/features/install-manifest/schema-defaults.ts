import { isJsonMap, type JsonMap } from '../../kernel/json-map.ts';
import type { Schema } from './schema.ts';

/**
 * The value as the API server judges it: read and written alike, it takes null out of fields that must not be null, and fills in the
 * defaults of fields that are not there, before any rule is asked. Items of lists that are null without a default stay.
 */
export function defaulted(value: unknown, schema: Schema): unknown {
  if (value === null) return schema.nullable === true || schema.default === undefined ? null : defaulted(schema.default, schema);
  if (isJsonMap(value)) return filledIn(value, schema);
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
