import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { effects } from '../../src/cli/effects.ts';

const root = join(import.meta.dirname, '..', '..');
const schemas = join(root, 'schemas', 'output');

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly $ref?: string;
  readonly const?: unknown;
}

/** Every promise of a schema as a line: a field with its type, that a field is always there, a value that may come. */
function promises(schema: Schema, path: string): readonly string[] {
  const { properties = {}, $defs = {}, items, required = [], type, enum: values = [] } = schema;
  const kind = schema.$ref ?? (schema.const === undefined ? [type ?? 'any'].flat().join('|') : JSON.stringify(schema.const));
  return [
    `${path}: ${kind}`,
    ...values.map((value) => `${path} may be ${JSON.stringify(value)}`),
    ...required.map((name) => `${path}.${name} is always there`),
    ...Object.entries({ ...properties, ...$defs }).flatMap(([name, one]) => promises(one, `${path}.${name}`)),
    ...(items ? promises(items, `${path}[]`) : []),
  ];
}

const now = readdirSync(schemas)
  .sort()
  .flatMap((file) => promises(JSON.parse(readFileSync(join(schemas, file), 'utf8')) as Schema, file.replace('.schema.json', '')));
const written = join(root, 'test', 'fixtures', 'output-v1.txt');
const before = readFileSync(written, 'utf8').trim().split('\n');

describe('the documents of output.netsvc-upgrade/v1', () => {
  it('still keep every promise that was made: fields are added, never changed or taken away', () => {
    const kept = new Set(now);
    const broken = before.filter((promise) => !kept.has(promise));
    assert.deepEqual(broken, [], 'make a new apiVersion instead');
  });

  it('name every effect that an action may have', () => {
    const listed = now.flatMap((promise) => /^common\.action\.effect\.type may be "(.+)"$/.exec(promise)?.[1] ?? []);
    assert.deepEqual([...listed].sort(), Object.keys(effects).sort());
  });

  it('have their new promises written down (WRITE_PROMISES=1 adds them to test/fixtures/output-v1.txt)', () => {
    const known = new Set(before);
    const added = now.filter((promise) => !known.has(promise));
    if (process.env.WRITE_PROMISES) writeFileSync(written, `${[...before, ...added].join('\n')}\n`);
    else assert.deepEqual(added, []);
  });
});
