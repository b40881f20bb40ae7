import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import fc from 'fast-check';
import { junitText } from '../../src/report/report-junit.ts';
import { reportOf } from '../support/big-report.ts';
import { assertJunit, parseXml } from '../support/junit-rules.ts';
import { describeWhere, lacksProgram } from '../support/needs.ts';

/** Of a command that failed at once. */
const FAILED = { outcome: { code: 'failed', number: 1 }, message: 'no <cluster>', suggestions: ['"look" & go'] };
const NOTHING = { title: 'nothing', outcome: { code: 'done', number: 0 }, suggestions: [], facts: [], findings: [], plans: [], stages: [] };

/** Class, name and what is inside, of every case. */
function casesOf(document: string) {
  const cases = parseXml(document)[0]?.children.flatMap((suite) => suite.children.filter(({ name }) => name === 'testcase')) ?? [];
  return cases.map((one) => [one.attributes.classname, one.attributes.name, one.children.map((child) => child.name).join()]);
}

describe('a report as JUnit XML', () => {
  it('follows the rules of the common schema', () => assertJunit(junitText(reportOf())));

  it('follows them when there is nothing to tell', () => {
    assertJunit(junitText(NOTHING));
    assertJunit(junitText({ ...NOTHING, ...FAILED }));
  });

  it('follows them whatever the texts are', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (one) => assertJunit(junitText(reportOf({ word: () => one })))),
      { numRuns: 50 },
    );
  });

  it('has a case per check and per stage; a warning passes with its text, an error and a failed stage do not', () => {
    const [root] = parseXml(junitText(reportOf()));
    assert.deepEqual(root?.attributes, { tests: '18', failures: '3', errors: '0', skipped: '2' });
    const cases = root?.children.flatMap((suite) => suite.children).filter(({ name }) => name === 'testcase') ?? [];
    assert.deepEqual(
      cases.map((one) => [one.attributes.name, one.children.map((child) => child.name).join()]),
      [
        ['preflight', ''],
        ['crds', 'skipped'],
        ['apply', 'failure'],
        ['NS-002 title', 'failure'],
        ['NS-003 title', 'system-out'],
        ['NS-001 title', ''],
        ['NS-004 title', 'skipped'],
        ['ConfigMap/kube-system/netsvc-config data.mtu', 'failure'],
        ['ConfigMap/kube-system/netsvc-config data.mtu', 'system-out'],
        ['ConfigMap/kube-system/netsvc-config data.mtu', 'system-out'],
        ['ConfigMap/kube-system/netsvc-config data.level', 'system-out'],
        ['DaemonSet/kube-system/netsvc-node spec.replicas', 'system-out'],
        ['ConfigMap/shop/owned IPPool/blue', 'system-out'],
        ['ConfigMap/shop/owned IPPool/blue, now of UID 5f1c', 'system-out'],
        ['node-0', 'system-out'],
        ['node-1', ''],
        ['node-2', ''],
        ['node-3', ''],
      ],
    );
    assert.equal(cases[0]?.attributes.time, '4.000');
  });

  it('tells the releases before and after as properties of the first suite', () => {
    const [suite] = parseXml(junitText(reportOf()))[0]?.children ?? [];
    const properties = suite?.children[0]?.children.map(({ attributes }) => [attributes.name, attributes.value]);
    assert.deepEqual(properties?.slice(0, 2), [
      ['target', 'v3.32.2'],
      ['versions', 'v3.27.5 before, v3.32.2 after'],
    ]);
  });

  it('does not let a stage pass that is still at work', () => {
    const [root] = parseXml(junitText({ ...NOTHING, stages: [{ id: 'wait', state: 'running', startedAt: '2026-01-01T00:00:00Z' }] }));
    assert.equal(root?.attributes.failures, '1');
  });

  describe('of a command that failed while its checks and stages passed', () => {
    const stages = [{ id: 'cli', state: 'done' }];
    const ended = (code: string, number: number) => ({ ...NOTHING, stages, outcome: { code, number } });

    it('has a case `command` with the reason and what to do', () => {
      const text = junitText({ ...ended('stopped', 5), message: '1 manual step left', suggestions: ['remove it with: rm x'] });
      assert.match(text, /^<testsuites tests="2" failures="1"/m);
      assert.deepEqual(casesOf(text), [
        ['stages', 'cli', ''],
        ['command', 'command', 'failure'],
      ]);
      assert.match(
        text,
        /<failure message="1 manual step left">stopped \(exit 5\)&#10;1 manual step.*&#10;remove it with: rm x<\/failure>/,
      );
      assertJunit(text);
    });

    it('says the code where there is no other reason', () =>
      assert.match(junitText(ended('blocked', 3)), /<failure message="blocked \(exit 3\)">/));

    for (const [code, number] of [
      ['done', 0],
      ['pending', 2],
    ] as const)
      it(`has none for ${code}`, () => assert.deepEqual(casesOf(junitText(ended(code, number))), [['stages', 'cli', '']]));

    it('has none where a stage failed: that says it', () => {
      const failed = [{ id: 'cli', state: 'failed', because: 'no' }];
      assert.deepEqual(casesOf(junitText({ ...ended('failed', 1), stages: failed, message: 'no' })), [['stages', 'cli', 'failure']]);
    });
  });

  it('names what a check is about where it is open about several things: no two cases have one name', () => {
    const of = { id: 'NS-202', title: 'refused', category: 'manifest', ref: '§4.3/2', outcome: 'error', message: 'no' } as const;
    const findings = ['CustomResourceDefinition/a', 'DaemonSet/b'].map((text) => ({ ...of, evidence: [{ text }] }));
    assert.deepEqual(
      casesOf(junitText({ ...NOTHING, findings })).map(([, name]) => name),
      ['NS-202 refused: CustomResourceDefinition/a', 'NS-202 refused: DaemonSet/b'],
    );
  });

  it('lets no warning pass for which --fail-on=warning stopped the command', () => {
    const findings = reportOf().findings.filter(({ outcome }) => outcome === 'warning');
    const of = { ...NOTHING, findings };
    const [finding] = findings;
    assert.deepEqual(casesOf(junitText({ ...of, outcome: { code: 'warned', number: 4 } })), [
      [finding?.category, `${finding?.id} ${finding?.title}`, 'failure'],
    ]);
    assert.match(junitText({ ...of, outcome: { code: 'done', number: 0 } }), /failures="0"/);
  });

  it('the rules themselves refuse what the schema refuses', () => {
    const good = '<testsuites tests="0" failures="0" errors="0" skipped="0"></testsuites>';
    assertJunit(`<?xml version="1.0" encoding="UTF-8"?>\n${good}`);
    for (const bad of [
      good.replace('tests="0"', 'tests="1"'),
      good.replace('tests="0"', 'tests="many"'),
      good.replace('tests=', 'checks='),
      good.replace('></', '><testcase name="a"/></'),
      good.replace('></', '>text</'),
      good.replace('testsuites>', 'testsuite>'),
      '<a>&nbsp;</a>',
    ])
      assert.throws(() => assertJunit(`<?xml version="1.0" encoding="UTF-8"?>\n${bad}`), bad);
  });
});

const SCHEMA = join(import.meta.dirname, '..', '..', 'schemas', 'junit.xsd');

/** What xmllint says against a document; empty if it follows the schema. */
function faults(document: string): string {
  const { status, stderr } = spawnSync('xmllint', ['--nonet', '--noout', '--schema', SCHEMA, '-'], { input: document, encoding: 'utf8' });
  return status === 0 ? '' : stderr;
}

describeWhere(lacksProgram('xmllint'), 'the published schema of JUnit reports', () => {
  const report = reportOf();

  for (const [what, document] of [
    ['of a run', junitText(report)],
    ['of a run on many nodes', junitText(reportOf({ nodes: 500, hosts: 500, stuck: [7] }))],
    ['with nothing to tell but how it ended', junitText({ ...report, findings: [], plans: [], stages: [] })],
    ['of a stage without an end', junitText({ ...report, stages: [{ id: 'wait', state: 'running', startedAt: 'yesterday' }] })],
    ['of a command that failed at once', junitText({ ...NOTHING, ...FAILED })],
    ...['', ' ', '\u0000\u001b[31m', '\ud800', ']]>', '<!--"\'&amp;', '雪\n\t', '\ufffe'].map(
      (word) => [`whose every text is ${JSON.stringify(word)}`, junitText(reportOf({ word: () => word }))] as const,
    ),
  ] as const)
    it(`is followed by a report ${what}`, () => assert.equal(faults(document), ''));

  for (const [what, from, to] of [
    ['a count that is no number', /tests="\d+"/, 'tests="many"'],
    ['a suite without a name', /<testsuite name="[^"]*"/, '<testsuite'],
    ['a test case without a class', / classname="[^"]*"/, ''],
    ['an element of another form', '</testsuites>', '<rerunFailure/></testsuites>'],
    ['a time with a zone', /timestamp="([^"]*)"/, 'timestamp="$1Z"'],
    ['a failure that is skipped as well', '</failure>', '</failure><skipped message=""/>'],
  ] as const)
    it(`is not followed by ${what}`, () => {
      const bad = junitText(report).replace(from, to);
      assert.notEqual(bad, junitText(report));
      assert.match(faults(bad), /Schemas validity error/);
    });
});
