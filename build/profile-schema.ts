import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shippedProfiles } from '../src/profiles/index.ts';
import { publishedSchema } from './published-schema.ts';

/** Writes schemas/profile.schema.json: `node build/profile-schema.ts`. */
const file = join(import.meta.dirname, '..', 'schemas', 'profile.schema.json');
const schema = publishedSchema(shippedProfiles.map(({ name }) => name));
writeFileSync(file, `${JSON.stringify(schema, undefined, 2)}\n`);
