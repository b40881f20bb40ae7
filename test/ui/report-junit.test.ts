import assert from 'node:assert/strict';
import fc from 'fast-check';
import { junitOfFailure, junitText } from '../../src/ui/report-junit.ts';
import { reportOf } from '../support/big-report.ts';
import { assertJunit, parseXml } from '../support/junit-rules.ts';

describe('a report as JUnit XML', () => {
  it('follows the rules of the common schema', () => assertJunit(junitText(reportOf())));

  it('follows them when there is nothing to tell', () => {
    assertJunit(junitText({ title: 'nothing', findings: [], stages: [] }));
    assertJunit(junitOfFailure({ command: 'run', exit: 'failed (exit 1)', message: 'no <cluster>', suggestions: ['"look"'] }));
  });

  it('follows them whatever the texts are', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (one) => assertJunit(junitText(reportOf({ word: () => one })))),
      { numRuns: 50 },
    );
  });

  it('has a case per check and per stage; a warning passes with its text, an error and a failed stage do not', () => {
    const [root] = parseXml(junitText(reportOf()));
    assert.deepEqual(root?.attributes, { tests: '7', failures: '2', errors: '0', skipped: '2' });
    const cases = root?.children.flatMap((suite) => suite.children) ?? [];
    assert.deepEqual(
      cases.map((one) => [one.attributes.name, one.children.map((child) => child.name).join()]),
      [
        ['NS-001 title', ''],
        ['NS-002 title', 'failure'],
        ['NS-003 title', 'system-out'],
        ['NS-004 title', 'skipped'],
        ['preflight', ''],
        ['crds', 'skipped'],
        ['apply', 'failure'],
      ],
    );
    assert.equal(cases[4]?.attributes.time, '4.000');
  });

  it('does not let a stage pass that is still at work', () => {
    const [root] = parseXml(
      junitText({ title: 'x', findings: [], stages: [{ id: 'wait', state: 'running', startedAt: '2026-01-01T00:00:00Z' }] }),
    );
    assert.equal(root?.attributes.failures, '1');
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
