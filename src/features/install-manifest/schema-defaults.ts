import { isRecord, type JsonMap } from '../../kernel/json.ts';

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

/** The value as the API server evaluates it: null removed from non-nullable fields, defaults filled in, list items kept. */
export function defaulted(value: unknown, schema: Schema): unknown {
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
