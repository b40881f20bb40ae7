import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { type Schema, violations } from '../../src/checks/schema.ts';
import { holdsRule } from '../../src/checks/schema-rules.ts';
import { targetCrds } from '../../src/checks/target-crds.ts';
import type { KubeObject } from '../../src/core/object.ts';

const text = (more: Schema = {}): Schema => ({ type: 'string', ...more });

describe('violations of a schema', () => {
  const cases: readonly [string, unknown, Schema, readonly string[]][] = [
    ['a value of the enumeration', 'NFT', text({ enum: ['NFT'] }), []],
    ['another value', 'nft', text({ enum: ['NFT'] }), ['"nft" is not one of "NFT"']],
    ['a string for a number', '5', { type: 'integer' }, ['must be an integer, not "5"']],
    ['an object for a string', {}, text(), ['must be a string, not {}']],
    ['an object for a list', {}, { type: 'array' }, ['must be a list, not {}']],
    ['a list for an object', [], { type: 'object' }, ['must be an object, not []']],
    ['text for an integer or string', '80', { 'x-kubernetes-int-or-string': true }, []],
    ['a pattern that matches', 'DROP', text({ pattern: '^(?i)(Drop|Reject)?$' }), []],
    ['a pattern that does not', 'x', text({ pattern: '^(?i)(Drop|Reject)?$' }), ['"x" does not match ^(?i)(Drop|Reject)?$']],
    ['a pattern that JavaScript does not know', 'x', text({ pattern: '[[:alpha:]](?P<a>' }), []],
    ['a long text', 'abcd', text({ maxLength: 3 }), ['4 characters is more than 3']],
    ['a small number', 0, { type: 'integer', minimum: 1 }, ['0 is less than 1']],
    ['an entry twice in a set', ['a', 'a'], { type: 'array', 'x-kubernetes-list-type': 'set' }, ['holds an entry twice']],
    ['too many items', ['a', 'b'], { type: 'array', maxItems: 1 }, ['2 items is more than 1']],
    ['null where it may be', null, text({ nullable: true }), []],
    ['null where a default steps in', null, text({ default: 'a' }), []],
    ['null elsewhere', null, text(), ['must be a string, not null']],
  ];
  for (const [title, value, schema, expected] of cases) {
    it(`judges ${title}`, () => {
      assert.deepEqual(
        violations(value, schema).map(({ because }) => because),
        expected,
      );
    });
  }

  it('names the place of a fault deep inside', () => {
    const rule: Schema = {
      type: 'object',
      required: ['action', 'kind'],
      properties: { action: text({ enum: ['Allow'] }), kind: text({ default: 'x' }) },
    };
    const schema: Schema = {
      type: 'object',
      properties: { spec: { type: 'object', properties: { rules: { type: 'array', items: rule } } } },
    };
    assert.deepEqual(violations({ spec: { rules: [{ action: 'Allow' }, { action: 'allow' }, {}], unknown: 1 } }, schema), [
      { path: 'spec.rules[1].action', because: '"allow" is not one of "Allow"' },
      { path: 'spec.rules[2].action', because: 'is required' },
    ]);
  });

  it('judges the values of a map', () => {
    assert.equal(violations({ a: 1 }, { type: 'object', additionalProperties: text() })[0]?.path, 'a');
  });

  it('does not try a repeated repetition on a long text', () => {
    const pattern = '^(([0-9]*(ms|s)+)+|Auto)$';
    assert.deepEqual(violations(`${'s'.repeat(60)}x`, text({ pattern })), []);
    assert.equal(violations('5x', text({ pattern })).length, 1);
  });

  it('says the message of a broken rule', () => {
    const rule = '(has(self.interfaceName) && size(self.interfaceName) > 0) ||\n  (has(self.expectedIPs) && size(self.expectedIPs) > 0)';
    const schema: Schema = {
      type: 'object',
      'x-kubernetes-validations': [{ rule, message: 'one of both is needed' }, { rule: 'unknown()' }],
    };
    assert.deepEqual(violations({ node: 'n1' }, schema), [{ path: '', because: 'one of both is needed' }]);
    assert.deepEqual(violations({ interfaceName: '*' }, schema), []);
  });
});

describe('rules of CRDs', () => {
  const cases: readonly [string, unknown, boolean | undefined][] = [
    ['has(self.node) && size(self.node) > 0', { node: '' }, false],
    ['has(self.node) && size(self.node) > 0', { node: 'n' }, true],
    ['!has(self.routeTableRange) || !has(self.routeTableRanges)', { routeTableRange: {}, routeTableRanges: [] }, false],
    ['!has(self.code) || has(self.type)', { code: 0 }, false],
    ["self.action == 'Allow' || !has(self.http)", { action: 'Deny', http: {} }, false],
    ["self.metadata.name == 'default' ? self.spec.defaultAction == 'Deny' : true", { metadata: { name: 'default' }, spec: {} }, false],
    ["self.metadata.name == 'default' ? self.spec.defaultAction == 'Deny' : true", { metadata: { name: 'mine' }, spec: {} }, true],
    ['self == oldSelf', {}, undefined],
    ['has(self.node) && size(self.node) > 0', 'not an object', undefined],
  ];
  for (const [rule, self, expected] of cases) {
    it(`${rule} of ${JSON.stringify(self)} is ${expected}`, () => assert.equal(holdsRule(rule, self), expected));
  }

  const file = join(import.meta.dirname, '..', '..', '..', 'shared', 'releases', 'v3.32.1', 'manifests', 'crds.yaml');

  it('judges address pools by the CRDs of the release beside the repository', function () {
    if (!existsSync(file)) this.skip();
    const pools = readFileSync(file, 'utf8')
      .split(/^---$/m)
      .filter((part) => /^ {2}name: ippools\./m.test(part));
    const [crd] = targetCrds(parseAllDocuments(pools.join('---\n')).map((document) => document.toJS() as KubeObject));
    const schema = crd?.schemas.v1;
    assert.ok(schema);
    const pool = {
      metadata: { name: 'p' },
      spec: { cidr: '10.0.0.0/16', ipipMode: 'Always', vxlanMode: 'Never', natOutgoing: true, nodeSelector: 'all()' },
    };
    assert.deepEqual(violations(pool, schema), []);
    assert.equal(violations({ ...pool, spec: { ...pool.spec, vxlanMode: 'Always' } }, schema).length, 1);
    assert.equal(violations({ ...pool, spec: { ...pool.spec, ipipMode: 'always' } }, schema)[0]?.path, 'spec.ipipMode');
    const balancer = { ...pool.spec, ipipMode: 'Never', allowedUses: ['LoadBalancer', 'Workload'] };
    assert.equal(violations({ ...pool, spec: balancer }, schema).length, 1);
  });
});
