import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { publishedSchema } from '../../build/published-schema.ts';
import { shippedProfiles } from '../../src/profiles/index.ts';
import { loadProfile } from '../../src/profiles/load.ts';

const root = join(import.meta.dirname, '..', '..');
const schema = publishedSchema(shippedProfiles.map(({ name }) => name));

describe('the published schema of profile files', () => {
  const validate = new Ajv({ allErrors: true, discriminator: true, strict: true, strictRequired: false }).compile(schema);

  it('is the one in schemas/profile.schema.json (run: node build/profile-schema.ts)', () => {
    assert.deepEqual(JSON.parse(readFileSync(join(root, 'schemas', 'profile.schema.json'), 'utf8')), schema);
  });

  for (const shipped of shippedProfiles) {
    it(`accepts ${shipped.name} written out whole, and refuses it without one of its fields`, () => {
      const { title: _, ...without } = shipped;
      assert.ok(validate(shipped), JSON.stringify(validate.errors));
      assert.ok(!validate(without));
    });
  }

  it('accepts the example of docs/reference/profiles.md, as the loader does', async () => {
    const [, example = ''] =
      /```yaml\n(extends:[\s\S]*?)```/.exec(readFileSync(join(root, 'docs', 'reference', 'profiles.md'), 'utf8')) ?? [];
    assert.ok(validate(parse(example)), JSON.stringify(validate.errors));
    await loadProfile(example, 'example.yaml');
  });

  const accepted: readonly (readonly [string, string])[] = [
    ['nothing but its parent', 'extends: netsvc'],
    ['one field of a map', 'extends: calico\nimages: { agent: [mirror/node] }'],
    ['one field of an item with an id', 'extends: calico\nvariants: [{ id: canal, agent: { name: mine } }]'],
    ['READY of one workload', 'extends: calico\nvariants: [{ id: canal, agent: { ready: { type: literal, ready: 2/2 } } }]'],
    ['null for what is optional', 'extends: calico\npolicyRenaming: null\nnativeApiEnv: null'],
    ['null for an entry of a map of texts', 'extends: calico\noperator: { labels: { k8s-app: null } }'],
  ];
  for (const [title, text] of accepted) {
    it(`accepts an extension with ${title}, as the loader does`, async () => {
      assert.ok(validate(parse(text)), JSON.stringify(validate.errors));
      await loadProfile(text, 'mine.yaml');
    });
  }

  const refused: readonly (readonly [string, string])[] = [
    ['an unknown parent', 'extends: nobody'],
    ['a field that there is not', 'extends: calico\nimage: {}'],
    ['a field of an item that there is not', 'extends: calico\nvariants: [{ id: canal, agents: {} }]'],
    ['null for what every profile needs', 'extends: calico\ntitle: null'],
    ['part of an item of a list that is replaced whole', 'extends: calico\nremovedKinds: [{ kind: A }]'],
    ['a text where a list belongs', 'extends: calico\nregistries: quay.io'],
    ['an item without its id', 'extends: calico\naddOns: [{ file: a.yaml }]'],
  ];
  for (const [title, text] of refused) {
    it(`refuses an extension with ${title}, as the loader does`, async () => {
      assert.ok(!validate(parse(text)), 'the schema accepts it');
      await assert.rejects(loadProfile(text, 'mine.yaml'), { code: 'usage' });
    });
  }
});
