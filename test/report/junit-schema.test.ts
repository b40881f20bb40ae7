import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { junitOfFailure, junitText } from '../../src/report/report-junit.ts';
import { reportOf } from '../support/big-report.ts';
import { describeWhere, lacksProgram } from '../support/needs.ts';

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
    [
      'of a command that failed at once',
      junitOfFailure({ command: 'run', exit: 'failed (exit 1)', message: 'no <cluster>', suggestions: ['"look" & go'] }),
    ],
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
