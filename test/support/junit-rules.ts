import assert from 'node:assert/strict';

export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: XmlElement[];
  text: string;
}

const HEAD = /^<\?xml version="1\.0" encoding="UTF-8"\?>\n/;
const ENTITY = /&(?:amp|lt|gt|quot|apos|#\d+|#x[0-9a-f]+);/gi;

/** A strict reader for the XML that a report is made of: no doctype, no comments, nothing forgiven. */
export function parseXml(text: string): readonly XmlElement[] {
  // Characters that XML 1.0 does not have at all.
  assert.doesNotMatch(text, /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u);
  const root: XmlElement = { name: '', attributes: {}, children: [], text: '' };
  const open = [root];
  let rest = text.replace(HEAD, '');
  while (rest !== '') {
    const top = open.at(-1);
    assert.ok(top, 'an end too many');
    const [words] = /^[^<]*/.exec(rest) ?? [''];
    assert.doesNotMatch(words.replace(ENTITY, ''), /&/);
    top.text += words;
    rest = rest.slice(words.length);
    if (rest === '') break;
    const tag = /^<(\/?)([a-z][a-z-]*)((?:\s+[a-z]+="[^"<]*")*)\s*(\/?)>/.exec(rest);
    assert.ok(tag, `no tag: ${rest.slice(0, 60)}`);
    const [whole, end, name = '', attributes = '', single] = tag;
    rest = rest.slice(whole.length);
    if (end) assert.equal(open.pop()?.name, name);
    else {
      const element: XmlElement = { name, attributes: attributesOf(attributes), children: [], text: '' };
      top.children.push(element);
      if (!single) open.push(element);
    }
  }
  assert.equal(open.length, 1, 'an element is not closed');
  return root.children;
}

function attributesOf(text: string): Readonly<Record<string, string>> {
  const found = [...text.matchAll(/([a-z]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value] as const);
  assert.equal(new Set(found.map(([name]) => name)).size, found.length, 'an attribute twice');
  for (const [, value] of found) assert.doesNotMatch(value.replace(ENTITY, ''), /&/);
  return Object.fromEntries(found);
}

const COUNT = /^\d+$/;
const TIME = /^\d+(\.\d+)?$/;
const ANY = /^/;

interface Rule {
  readonly required?: Readonly<Record<string, RegExp>>;
  readonly optional?: Readonly<Record<string, RegExp>>;
  readonly children?: readonly string[];
  readonly hasText?: boolean;
  /** At most one of these children. */
  readonly one?: readonly string[];
}

/** The elements and attributes that the readers of JUnit files agree on (the schema of Jenkins’ xUnit plugin, and what Ant writes). */
const RULES: Readonly<Record<string, Rule>> = {
  testsuites: {
    required: { tests: COUNT, failures: COUNT, errors: COUNT },
    optional: { skipped: COUNT, name: ANY, time: TIME },
    children: ['testsuite'],
  },
  testsuite: {
    required: { name: /./s, tests: COUNT, failures: COUNT, errors: COUNT },
    optional: { skipped: COUNT, time: TIME, timestamp: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/, hostname: ANY },
    children: ['properties', 'testcase'],
  },
  properties: { children: ['property'] },
  property: { required: { name: /./s, value: ANY } },
  testcase: {
    required: { name: /./s, classname: /./s },
    optional: { time: TIME },
    children: ['skipped', 'failure', 'error', 'system-out', 'system-err'],
    one: ['skipped', 'failure', 'error'],
  },
  failure: { required: { message: ANY }, optional: { type: ANY }, hasText: true },
  skipped: { required: { message: ANY } },
  'system-out': { hasText: true },
};

/** Fails unless the text is one JUnit document whose elements, attributes and counts are right. */
export function assertJunit(text: string): void {
  assert.match(text, HEAD);
  const roots = parseXml(text);
  assert.deepEqual(
    roots.map((one) => one.name),
    ['testsuites'],
  );
  for (const root of roots) follows(root);
}

function follows(element: XmlElement): void {
  const rule = RULES[element.name];
  assert.ok(rule, `there is no element ${element.name}`);
  for (const name of Object.keys(rule.required ?? {})) assert.ok(name in element.attributes, `${element.name} has no ${name}`);
  for (const [name, value] of Object.entries(element.attributes)) {
    const shape = rule.required?.[name] ?? rule.optional?.[name];
    assert.ok(shape, `${element.name} may not have ${name}`);
    assert.match(value, shape);
  }
  if (!rule.hasText) assert.equal(element.text.trim(), '', `${element.name} may not have text`);
  for (const child of element.children) assert.ok(rule.children?.includes(child.name), `${child.name} in ${element.name}`);
  assert.ok(element.children.filter((child) => rule.one?.includes(child.name)).length <= 1);
  element.children.forEach(follows);
  if (element.name === 'testsuite' || element.name === 'testsuites') counted(element);
}

function counted(suite: XmlElement): void {
  const inside = suite.name === 'testsuite' ? suite.children : suite.children.flatMap((one) => one.children);
  const cases = inside.filter(({ name }) => name === 'testcase');
  const having = (name: string) => String(cases.filter((one) => one.children.some((child) => child.name === name)).length);
  const { tests, failures, errors, skipped = '0' } = suite.attributes;
  assert.deepEqual([tests, failures, errors, skipped], [String(cases.length), having('failure'), having('error'), having('skipped')]);
}
