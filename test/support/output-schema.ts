import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';

const schemas = join(import.meta.dirname, '..', '..', 'schemas', 'output');
const ajv = new Ajv2020({ strict: true, allErrors: true });
for (const file of readdirSync(schemas)) ajv.addSchema(JSON.parse(readFileSync(join(schemas, file), 'utf8')) as object, file);

/** Throws with every place where the document, as it is written, is not what the published schema says. */
export function conforms(document: unknown, schema: string): void {
  const validate = ajv.getSchema(schema);
  assert.ok(validate, schema);
  validate(JSON.parse(JSON.stringify(document)));
  assert.deepEqual(validate.errors ?? [], []);
}
