/** A JSON schema as plain data. */
export interface Schema {
  readonly [keyword: string]: unknown;
}

export const text: Schema = { type: 'string', minLength: 1 };
export const texts: Schema = { type: 'array', items: { type: 'string' } };
export const flag: Schema = { type: 'boolean' };
/** What `parseRelease` reads: anything else cannot be compared. */
export const release: Schema = {
  type: 'string',
  pattern: '^v\\d{1,4}\\.\\d{1,4}\\.\\d{1,6}([-+].{0,200})?$',
  description: 'A release tag with all its numbers: v3.32.2',
};
export const line: Schema = {
  type: 'string',
  pattern: '^v\\d{1,4}\\.\\d{1,4}$',
  description: 'A minor line: v3.32',
};
export const mapOf = (values: Schema): Schema => ({ type: 'object', additionalProperties: values });

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

/** Fields of one schema. */
export function each(schema: Schema, ...names: readonly string[]): Readonly<Record<string, Schema>> {
  return Object.fromEntries(names.map((name) => [name, schema]));
}

/** Objects distinguished by their `type`. */
export function oneOfTypes(...schemas: readonly Schema[]): Schema {
  return { type: 'object', required: ['type'], discriminator: { propertyName: 'type' }, oneOf: schemas };
}

/** An empty text would be a part of every other. */
const someTexts: Schema = { type: 'array', items: text, minItems: 1 };
const version: Schema = { type: 'string', pattern: '^\\d{1,9}(\\.\\d{1,9}){0,5}$', description: 'A version without a leading v: 5.15' };
const test = { 'oneOf?': someTexts, 'noneOf?': someTexts, 'absent?': flag };

/** The parts of a profile that describe defects of releases. */
export const defectDefinitions: Readonly<Record<string, Schema>> = {
  releaseRange: fields(
    { from: release, 'before?': release, 'backports?': { ...listOf(release), minItems: 1 } },
    '`before` is the first release that is no longer of it; `backports` are those of older lines.',
  ),
  defectCondition: oneOfTypes(
    fields({ type: { const: 'resource' }, plurals: someTexts, fields: someTexts, ...test }),
    fields({ type: { const: 'setting' }, name: text, ...test }),
    fields({
      type: { const: 'node' },
      field: { enum: ['osImage', 'kernelVersion', 'containerRuntimeVersion', 'architecture'] },
      'startsWith?': someTexts,
      'from?': version,
      'before?': version,
    }),
    fields({ type: { const: 'packetFilter' }, oneOf: { ...listOf({ enum: ['iptables', 'nftables'] }), minItems: 1 } }),
    fields({ type: { const: 'hostProgram' }, images: someTexts }),
    fields({ type: { const: 'crd' }, name: text }),
    fields({ type: { const: 'nodeInPool' } }),
    fields({ type: { const: 'path' }, oneOf: { ...listOf({ enum: ['chart', 'operator', 'manifest', 'kvstore'] }), minItems: 1 } }),
    fields({ type: { const: 'upgradeFrom' }, releases: ref('releaseRange') }),
  ),
  defect: fields({
    id: text,
    of: { enum: ['source', 'target', 'agent'] },
    releases: ref('releaseRange'),
    when: listOf(ref('defectCondition')),
    severity: { enum: ['error', 'warning'] },
    symptom: text,
    happens: text,
    'fixedIn?': release,
    'advice?': text,
    sources: someTexts,
  }),
};
