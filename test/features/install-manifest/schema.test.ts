import assert from 'node:assert/strict';
import type { Schema } from '../../../src/features/install-manifest/schema.ts';
import { judgeBySchema } from '../../../src/features/install-manifest/schema.ts';
import { holdsFormat, holdsRule, patternMatcher } from '../../../src/features/install-manifest/schema-rules.ts';

const violations = (...of: Parameters<typeof judgeBySchema>) => judgeBySchema(...of).violations;

const text = (more: Schema = {}): Schema => ({ type: 'string', ...more });

describe('a pattern of a CRD', () => {
  // V8 would take from seconds to years.
  const VALUE = `${'a'.repeat(60)}!`;

  it('that takes long is left to the server, and not tried again', () => {
    const matches = patternMatcher();
    for (const pattern of ['^(a|a)*$', '^(a+)+$', '^(a|aa)+$', '^(?:a{1,2}){1,40}$'])
      assert.equal(matches(VALUE, pattern), undefined, pattern);
    assert.equal(matches('a', '^(a+)+$'), undefined);
    assert.equal(matches('1h30m', '^([0-9]+(\\.[0-9]+)?(ms|s|m|h))*$'), true);
  });

  it('is left to the server after a few of them, unless it cannot take long', () => {
    const matches = patternMatcher();
    for (let count = 1; count <= 8; count += 1) assert.equal(matches(VALUE, `^(a+)+${count}$`), undefined);
    assert.equal(matches('b', '^(b)*$'), undefined);
    assert.deepEqual([matches('b', '^b*$'), matches('a', '^b*$')], [true, false]);
    assert.equal(matches('x'.repeat(9000), '^.*'), undefined);
  });
});

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
    ['letters outside the plane, each as one', '😀😀', text({ maxLength: 2 }), []],
    ['a CIDR', '10.0.0.0/8', text({ format: 'cidr' }), []],
    ['what is no CIDR', 'not-a-cidr', text({ format: 'cidr' }), ['"not-a-cidr" is not of format cidr']],
    ['a format of a list, which the server ignores', ['x'], { type: 'array', format: 'cidr' }, []],
    ['a format that no server knows', 'x', text({ format: 'ip' }), []],
    ['a number of more than 32 bits', 2 ** 31, { type: 'integer', format: 'int32' }, ['2147483648 does not fit into 32 bits']],
    ['an object with too few fields', {}, { type: 'object', minProperties: 1 }, ['0 fields is less than 1']],
    ['an object with too many fields', { a: 1, b: 2 }, { type: 'object', maxProperties: 1 }, ['2 fields is more than 1']],
    [
      'two items with the same key',
      [
        { a: 1, b: 1 },
        { a: 1, b: 2 },
      ],
      { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a'] },
      ['holds an entry twice'],
    ],
    ['a value that one of all schemas refuses', 'b', text({ allOf: [{ enum: ['a', 'b'] }, { enum: ['a'] }] }), ['"b" is not one of "a"']],
    ['a value that one of any schemas takes', 'b', text({ anyOf: [{ enum: ['a'] }, { enum: ['b'] }] }), []],
    ['a value that none of any schemas takes', 'c', text({ anyOf: [{ enum: ['a'] }, { enum: ['b'] }] }), ['"c" is not one of "a"']],
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

  it('leaves a pattern that takes long to the server, and says so', () => {
    const pattern = '^(([0-9]*)+)+$';
    const long = judgeBySchema(`${'5'.repeat(60)}x`, text({ pattern }));
    assert.deepEqual(long, { violations: [], unjudged: [{ path: '', because: `pattern ${pattern}` }] });
  });

  describe('with defaults, which the server fills in before it judges', () => {
    const action = text({ default: 'Deny', enum: ['Deny', 'Pass'] });
    const rule = "self.metadata.name == 'default' ? self.spec.defaultAction == 'Deny' : true";
    const tier: Schema = {
      type: 'object',
      properties: { spec: { type: 'object', required: ['defaultAction'], properties: { defaultAction: action } } },
      'x-kubernetes-validations': [{ rule, message: 'must deny' }],
    };
    const named = (spec: unknown) => ({ metadata: { name: 'default' }, spec });
    const said = (value: unknown, schema: Schema) => violations(value, schema).map(({ path, because }) => `${path} ${because}`);

    it('judges rules of what is filled in', () => {
      assert.deepEqual(said(named({}), tier), []);
      assert.deepEqual(said(named({ defaultAction: null }), tier), []);
      assert.deepEqual(said(named({ defaultAction: 'Pass' }), tier), [' must deny']);
    });

    it('fills in what stands inside a default, in lists and in maps', () => {
      const inner: Schema = { type: 'object', default: {}, required: ['kind'], properties: { kind: text({ default: 'x', enum: ['y'] }) } };
      assert.deepEqual(said({}, { type: 'object', properties: { a: inner } }), ['a.kind "x" is not one of "y"']);
      assert.deepEqual(said([{}, null], { type: 'array', items: inner }), [
        '[0].kind "x" is not one of "y"',
        '[1].kind "x" is not one of "y"',
      ]);
      assert.deepEqual(said({ a: {} }, { type: 'object', additionalProperties: inner }), ['a.kind "x" is not one of "y"']);
    });

    it('leaves out a field that is null without one, as the server does, and not an item of a list', () => {
      const fields: Schema = { type: 'object', required: ['must'], properties: { may: text(), must: text() } };
      assert.deepEqual(said({ may: null, must: null }, fields), ['must is required']);
      assert.deepEqual(said({ a: null }, { type: 'object', additionalProperties: text(), minProperties: 1 }), [' 0 fields is less than 1']);
      assert.deepEqual(said([null], { type: 'array', items: text() }), ['[0] must be a string, not null']);
      assert.deepEqual(said({ a: null }, { type: 'object', properties: { a: text({ nullable: true, default: 'b' }) } }), []);
    });

    it('changes nothing of the object itself', () => {
      const stored = named({});
      violations(stored, tier);
      assert.deepEqual(stored, named({}));
    });
  });

  it('leaves any of several schemas to the server where none surely fits and one may', () => {
    const unknown = text({ pattern: '(?P<a>' });
    const no = text({ enum: ['y'] });
    const because = 'pattern (?P<a>';
    assert.deepEqual(judgeBySchema('x', { anyOf: [no, unknown] }), { violations: [], unjudged: [{ path: '', because }] });
    assert.deepEqual(judgeBySchema('y', { anyOf: [unknown, no] }), { violations: [], unjudged: [] }, 'one surely fits');
    const both = text({ enum: ['y'], pattern: '(?P<a>' });
    assert.deepEqual(judgeBySchema('x', { anyOf: [both] }).violations.length, 1, 'what is refused for another reason is refused');
  });

  const open: readonly [string, unknown, Schema, string][] = [
    ['a rule that is not known', {}, { type: 'object', 'x-kubernetes-validations': [{ rule: 'a\n  > b' }] }, 'rule a > b'],
    ['a pattern that JavaScript does not know', 'x', text({ pattern: '(?P<a>' }), 'pattern (?P<a>'],
    ['a pattern that JavaScript reads otherwise', 'x', text({ pattern: '^[[:alpha:]]+$' }), 'pattern ^[[:alpha:]]+$'],
    ['a pattern whose middle alone ignores case', 'x', text({ pattern: '^a(?i)b$' }), 'pattern ^a(?i)b$'],
    ['a format that only the server reads', 'x', text({ format: 'hostname' }), 'format hostname'],
    ['a schema that must not fit', 'x', text({ not: { enum: ['y'] } }), 'not'],
    ['one of several schemas', 'x', text({ oneOf: [{ enum: ['y'] }] }), 'oneOf'],
  ];
  for (const [title, value, schema, because] of open) {
    it(`leaves ${title} to the server, and says so where there is such a value`, () => {
      const inside: Schema = { type: 'object', properties: { field: schema } };
      assert.deepEqual(judgeBySchema({ field: value }, inside), { violations: [], unjudged: [{ path: 'field', because }] });
      assert.deepEqual(judgeBySchema({}, inside), { violations: [], unjudged: [] });
    });
  }

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
    ['self == oldSelf', {}, true],
    ['self > oldSelf', 1, undefined],
    ['has(self.node) && size(self.node) > 0', 'not an object', undefined],
  ];
  for (const [rule, self, expected] of cases) {
    it(`${rule} of ${JSON.stringify(self)} is ${expected}`, () => assert.equal(holdsRule(rule, self), expected));
  }

  const both: readonly { readonly rule: string; readonly holds: readonly unknown[]; readonly broken: readonly unknown[] }[] = [
    {
      rule: '(has(self.cidr) && size(self.cidr) > 0) == (has(self.matchOperator) && size(self.matchOperator) > 0)',
      holds: [{}, { cidr: '', matchOperator: '' }, { cidr: '10.0.0.0/8', matchOperator: 'In' }],
      broken: [{ cidr: '10.0.0.0/8' }, { matchOperator: 'In' }],
    },
    {
      rule: '!has(self.prefixLength) || (has(self.cidr) && size(self.cidr) > 0)',
      holds: [{}, { prefixLength: {}, cidr: 'c' }],
      broken: [{ prefixLength: { min: 8 } }, { prefixLength: {}, cidr: '' }],
    },
    {
      rule: "!has(self.operations) || size(self.operations) == 0 || self.action == 'Accept'",
      holds: [{ action: 'Reject' }, { action: 'Reject', operations: [] }, { action: 'Accept', operations: [{}] }],
      broken: [{ action: 'Reject', operations: [{}] }],
    },
    {
      rule: '(!has(self.localWorkloadSelector) || size(self.localWorkloadSelector) == 0) || (!has(self.peerIP) || size(self.peerIP) == 0)',
      holds: [{ peerIP: 'a' }, { localWorkloadSelector: 'all()', peerIP: '' }],
      broken: [{ localWorkloadSelector: 'all()', peerIP: 'a' }],
    },
    {
      rule: '(!has(self.localWorkloadSelector) || size(self.localWorkloadSelector) == 0) || (!has(self.peerSelector) || size(self.peerSelector) == 0)',
      holds: [{ peerSelector: 'a' }, { localWorkloadSelector: 'all()' }],
      broken: [{ localWorkloadSelector: 'all()', peerSelector: 'a' }],
    },
    {
      rule: '(!has(self.localWorkloadSelector) || size(self.localWorkloadSelector) == 0) || (has(self.asNumber) && self.asNumber != 0)',
      holds: [{}, { localWorkloadSelector: 'all()', asNumber: 64512 }],
      broken: [{ localWorkloadSelector: 'all()' }, { localWorkloadSelector: 'all()', asNumber: 0 }],
    },
    {
      rule: "self.metadata.name == 'default' || self.metadata.name.startsWith('node.') ? !has(self.spec.nodeSelector) : true",
      holds: [
        { metadata: { name: 'default' }, spec: {} },
        { metadata: { name: 'mine' }, spec: { nodeSelector: 'a' } },
      ],
      broken: [
        { metadata: { name: 'default' }, spec: { nodeSelector: 'a' } },
        { metadata: { name: 'node.a' }, spec: { nodeSelector: 'a' } },
      ],
    },
    {
      rule: '!has(self.destination) || !has(self.destination.services) || (!has(self.destination.ports) || size(self.destination.ports) == 0) && (!has(self.destination.notPorts) || size(self.destination.notPorts) == 0)',
      holds: [{}, { destination: { ports: [80] } }, { destination: { services: {}, ports: [], notPorts: [] } }],
      broken: [{ destination: { services: {}, ports: [80] } }, { destination: { services: {}, notPorts: [80] } }],
    },
    {
      rule: "!has(self.allowedUses) || !self.allowedUses.exists(u, u == 'LoadBalancer') || (!has(self.ipipMode) || size(self.ipipMode) == 0 || self.ipipMode == 'Never') && (!has(self.vxlanMode) || size(self.vxlanMode) == 0 || self.vxlanMode == 'Never')",
      holds: [{ ipipMode: 'Always' }, { allowedUses: ['LoadBalancer'], ipipMode: 'Never', vxlanMode: '' }],
      broken: [
        { allowedUses: ['LoadBalancer'], ipipMode: 'Always' },
        { allowedUses: ['LoadBalancer'], vxlanMode: 'CrossSubnet' },
      ],
    },
    { rule: 'self.start < self.end', holds: [{ start: 1, end: 2 }], broken: [{ start: 2, end: 2 }] },
    {
      rule: '!(self.to.exists(peer, has(peer.networks) || has(peer.nodes)) && has(self.ports) && self.ports.exists(port, has(port.namedPort)))',
      holds: [
        { to: [{ pods: {} }], ports: [{ namedPort: 'a' }] },
        { to: [{ nodes: {} }], ports: [{ portNumber: {} }] },
      ],
      broken: [{ to: [{ networks: [] }], ports: [{ namedPort: 'a' }] }],
    },
    { rule: "self.metadata.name == 'default'", holds: [{ metadata: { name: 'default' } }], broken: [{ metadata: { name: 'a' } }] },
    {
      rule: "self.metadata.name == 'default' || self.metadata.name == 'tigera-secure'",
      holds: [{ metadata: { name: 'tigera-secure' } }],
      broken: [{ metadata: { name: 'overlay' } }],
    },
    {
      rule: "self.metadata.name == 'default' || self.metadata.name == 'tigera-secure' || self.metadata.name == 'overlay'",
      holds: [{ metadata: { name: 'overlay' } }],
      broken: [{ metadata: { name: 'a' } }],
    },
    { rule: "self.contains(':') != self.contains('.')", holds: ['10.0.0.0/8', 'fd00::/8'], broken: ['::ffff:10.0.0.0/104'] },
    {
      rule: 'isCIDR(self)',
      holds: ['10.0.0.0/8', '10.1.2.3/8', 'fd00::/8', '::/0', '::1.2.3.4/120', '1:2:3:4:5:6:7::/64'],
      broken: [
        '10.0.0.0',
        '10.0.0.0/33',
        '10.0.0.0/08',
        '010.0.0.0/8',
        '::ffff:10.0.0.0/104',
        'fd00::1::/8',
        'fe80::1%eth0/64',
        'x/8',
        '1:2:3:4:5:6:7:8::/64',
      ],
    },
  ];
  for (const { rule, holds, broken } of both) {
    it(`${rule} is judged both ways`, () => {
      for (const self of holds) assert.equal(holdsRule(rule, self), true, JSON.stringify(self));
      for (const self of broken) assert.equal(holdsRule(rule, self), false, JSON.stringify(self));
    });
  }
});

describe('formats of CRDs', () => {
  const cases: readonly { readonly format: string; readonly good: readonly string[]; readonly bad: readonly string[] }[] = [
    {
      format: 'cidr',
      good: ['10.0.0.0/8', '010.0.0.0/08', 'fd00::/8'],
      bad: ['', '10.0.0.0', '10.0.0/8', '10.0.0.0/33', 'fd00::/129', 'a/8'],
    },
    { format: 'ipv4', good: ['10.0.0.1', '010.0.0.1'], bad: ['', '10.0.0', '256.0.0.1', '::1'] },
    { format: 'ipv6', good: ['::1', '::ffff:10.0.0.1'], bad: ['10.0.0.1', ':::', '12345::'] },
    { format: 'date', good: ['2024-02-29'], bad: ['2023-02-29', '24-01-01', ''] },
    {
      format: 'date-time',
      good: ['2024-02-29T23:59:59Z', '2024-01-01t00:00:00.5+01:00'],
      bad: ['2024-01-01', '2024-01-01T24:00:00Z', 'now'],
    },
    { format: 'byte', good: ['YQ==', 'YWJj'], bad: ['', 'YQ=', '?'] },
    { format: 'password', good: ['', 'x'], bad: [] },
  ];
  for (const { format, good, bad } of cases) {
    it(`${format} is judged as the API server does`, () => {
      for (const one of good) assert.equal(holdsFormat(format, one), true, one);
      for (const one of bad) assert.equal(holdsFormat(format, one), false, one);
    });
  }
});
