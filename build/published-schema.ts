import type { Schema } from '../src/profiles/defect-schema.ts';
import { profileSchema } from '../src/profiles/schema.ts';

const PARTS = ['readyRule', 'workload', 'variant', 'addOn', 'platform', 'defect', 'releaseRange'];

/** The parts of a profile that are merged item by item when one extends another (see `extend`): they are known by their `id`. */
const BY_ID = new Set(['variant', 'addOn', 'platform', 'defect']);

/**
 * The schema of profile files for editors (schemas/profile.schema.json): a whole profile, or with `extends` what differs from
 * a shipped one. What is merged may be partial, what is replaced must be whole, and `null` removes what is optional.
 */
export function publishedSchema(shippedNames: readonly string[]): Schema {
  const { $schema, title, description, $defs, ...profile } = profileSchema;
  const definitions = $defs as Readonly<Record<string, Schema>>;
  const parts = PARTS.map((name) => [`${name}Part`, partOf(definitions[name] ?? {}, BY_ID.has(name))]);
  return {
    $schema,
    title,
    description,
    ...when({ type: 'object', required: ['extends'] }, '#/$defs/extension', '#/$defs/profile'),
    $defs: { profile, extension: extensionOf(profile, shippedNames), ...definitions, ...Object.fromEntries(parts) },
  };
}

function extensionOf(profile: Schema, shippedNames: readonly string[]): Schema {
  const part = partOf(profile, false);
  const parent = { enum: shippedNames, description: 'The shipped profile from which everything comes that is not said here.' };
  return { ...part, properties: { extends: parent, ...(part.properties as Schema) } };
}

/** What may be set in a merged part; of list items at least the `id`. */
function partOf(schema: Schema, isItem: boolean): Schema {
  if (typeof schema.$ref === 'string') return { $ref: `${schema.$ref}Part` };
  if (schema.oneOf) return anyFieldOf(schema.oneOf as readonly Schema[]);
  if (schema.type === 'array') return listPart(schema);
  const { required, ...rest } = schema;
  if (schema.properties) return { ...rest, ...(isItem ? { required: ['id'] } : {}), properties: fieldParts(schema) };
  return schema.type === 'object' ? { ...schema, additionalProperties: orNull(schema.additionalProperties as Schema) } : schema;
}

function listPart(schema: Schema): Schema {
  const name = String((schema.items as Schema).$ref ?? '').replace('#/$defs/', '');
  return BY_ID.has(name) ? { ...schema, items: { $ref: `#/$defs/${name}Part` } } : schema;
}

function fieldParts({ properties, required }: Schema): Schema {
  const needed = required as readonly string[];
  const entries = Object.entries(properties as Readonly<Record<string, Schema>>).map(([name, schema]) => {
    const part = partOf(schema, false);
    return [name, needed.includes(name) ? part : orNull(part)] as const;
  });
  return Object.fromEntries(entries);
}

/** The extended profile may set the kind, so every field of every kind is allowed. */
function anyFieldOf(options: readonly Schema[]): Schema {
  const properties = options.map((one) => one.properties as Readonly<Record<string, Schema>>);
  const types = properties.flatMap(({ type }) => (type?.enum as readonly unknown[] | undefined) ?? [type?.const]);
  return { type: 'object', additionalProperties: false, properties: { ...Object.assign({}, ...properties), type: { enum: types } } };
}

function orNull(schema: Schema): Schema {
  return { anyOf: [schema, { type: 'null', description: 'Removes it.' }] };
}

function when(condition: Schema, yes: string, no: string): Schema {
  return Object.fromEntries([
    ['if', condition],
    ['then', { $ref: yes }],
    ['else', { $ref: no }],
  ]);
}
