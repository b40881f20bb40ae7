import { visible } from '../kernel/visible.ts';
import type { ReportFacts, TestCase } from './model.ts';
import { sectionsOf } from './report-sections.ts';

type JunitFacts = Omit<ReportFacts, 'next'>;

/**
 * A report as JUnit XML, with a suite per section of test cases. Warnings pass with their text as output, unless `--fail-on=warning`
 * stopped the command; a failed command never looks all green.
 */
export function junitText(report: JunitFacts): string {
  const { title, facts, history } = report;
  const suites: readonly JunitSuite[] = sectionsOf(report, () => '').flatMap((section) =>
    section.kind === 'table' && section.suite
      ? [{ ...section.suite, cases: (section.table?.rows ?? []).flatMap(({ test }) => test ?? []) }]
      : [],
  );
  const isTold = suites.some(({ cases }) => cases.some((one) => one.outcome === 'failed'));
  const all = isTold ? suites : [...suites, { name: 'command', cases: commandCases(report) }];
  const [first, ...rest] = all
    .filter(({ cases }) => cases.length > 0)
    .map((suite) => ({ ...suite, name: `netsvc-upgrade ${title} ${suite.name}` }));
  return junitDocument(first ? [{ ...first, properties: facts }, ...rest] : [], history?.startedAt);
}

/** What ended the command where no check or stage shows it: a manual step, a question nobody could answer. */
function commandCases({ outcome: { code, number }, message, suggestions }: JunitFacts): readonly TestCase[] {
  // 2: changes are pending, which is what was asked.
  if (number === 0 || number === 2) return [];
  const exit = `${code} (exit ${number})`;
  const text = [exit, message ?? exit, ...suggestions].join('\n');
  return [{ name: 'command', group: 'command', outcome: 'failed', message: message ?? exit, text }];
}

interface JunitSuite {
  readonly name: string;
  readonly cases: readonly TestCase[];
  readonly seconds?: number;
  /** Facts of the whole, as `target`. */
  readonly properties?: readonly (readonly [name: string, value: string])[];
}

function junitDocument(suites: readonly JunitSuite[], timestamp: string | undefined): string {
  const all = suites.flatMap(({ cases }) => cases);
  // The common schema wants a time without a fraction and without a zone.
  const when = timestamp === undefined ? '' : ` timestamp="${escaped(timestamp.slice(0, 19))}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${countsOf(all)}>`,
    ...suites.flatMap((suite) => [
      `  <testsuite name="${escaped(suite.name)}" ${countsOf(suite.cases)}${when}${timeOf(suite.seconds)}>`,
      ...propertyLines(suite.properties ?? []),
      ...suite.cases.map((one) => `    ${caseText(one)}`),
      '  </testsuite>',
    ]),
    '</testsuites>',
    '',
  ].join('\n');
}

function propertyLines(properties: NonNullable<JunitSuite['properties']>): readonly string[] {
  if (properties.length === 0) return [];
  const lines = properties.map(([name, value]) => `      <property name="${escaped(name)}" value="${escaped(value)}"/>`);
  return ['    <properties>', ...lines, '    </properties>'];
}

function countsOf(cases: readonly TestCase[]): string {
  const count = (outcome: TestCase['outcome']) => cases.filter((one) => one.outcome === outcome).length;
  return `tests="${cases.length}" failures="${count('failed')}" errors="0" skipped="${count('skipped')}"`;
}

function caseText({ name, group, outcome, message = '', text = '', seconds }: TestCase): string {
  const open = `<testcase classname="${escaped(group)}" name="${escaped(name) || escaped(group)}"${timeOf(seconds)}`;
  if (outcome === 'failed') return `${open}><failure message="${escaped(message)}">${escaped(text)}</failure></testcase>`;
  if (outcome === 'skipped') return `${open}><skipped message="${escaped(message)}"/></testcase>`;
  return text === '' ? `${open}/>` : `${open}><system-out>${escaped(text)}</system-out></testcase>`;
}

const timeOf = (seconds: number | undefined) => (seconds === undefined ? '' : ` time="${seconds.toFixed(3)}"`);

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\n': '&#10;', '\t': '&#9;' };

/** XML 1.0 has no control characters and no halves of characters, not even escaped: they are made visible. */
function escaped(text: string): string {
  return [...visible(text)].map((one) => ENTITIES[one] ?? one).join('');
}
