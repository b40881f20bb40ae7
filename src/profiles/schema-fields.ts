/** A JSON schema as plain data. */
export interface Schema {
  readonly [keyword: string]: unknown;
}

export const text: Schema = { type: 'string', minLength: 1 };
export const texts: Schema = { type: 'array', items: { type: 'string' } };
export const flag: Schema = { type: 'boolean' };
export const release: Schema = {
  type: 'string',
  pattern: '^v\\d+\\.\\d+\\.\\d+([-+].+)?$',
  description: 'A release tag with all its numbers: v3.32.2',
};
export const textMap: Schema = { type: 'object', additionalProperties: { type: 'string' } };

export const listOf = (items: Schema): Schema => ({ type: 'array', items });
export const ref = (name: string): Schema => ({ $ref: `#/$defs/${name}` });

/** An object of just these fields; a name that ends with `?` is optional. */
export function fields(properties: Readonly<Record<string, Schema>>, description?: string): Schema {
  const entries = Object.entries(properties);
  return {
    type: 'object',
    ...(description ? { description } : {}),
    additionalProperties: false,
    required: entries.map(([name]) => name).filter((name) => !name.endsWith('?')),
    properties: Object.fromEntries(entries.map(([name, schema]) => [name.replace('?', ''), schema])),
  };
}

/** Objects distinguished by their `type`. */
export function oneOfTypes(...schemas: readonly Schema[]): Schema {
  return { type: 'object', required: ['type'], discriminator: { propertyName: 'type' }, oneOf: schemas };
}
