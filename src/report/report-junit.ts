import { type JunitSuite, junitDocument } from './junit.ts';
import type { ReportFacts } from './report-facts.ts';
import type { ReportFailure } from './report-failure.ts';
import { sectionsOf } from './report-sections.ts';
import type { TestCase } from './section.ts';

type JunitFacts = Omit<ReportFacts, 'next'>;

/**
 * A report as JUnit XML: a suite of each section that has test cases; warnings pass,
 * with their text as output, unless `--fail-on=warning` stopped the command for them. A command that failed never looks all green.
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

/** The same for a command that ended before it had checks or stages: one test case, which failed. */
export function junitOfFailure({ command, exit, message, suggestions }: ReportFailure): string {
  const failed = failedCommand(command, exit, message, suggestions);
  return junitDocument([{ name: `netsvc-upgrade ${command}`, cases: [failed] }], undefined);
}

/** What ended the command, where neither a check nor a stage says it: a step left to the user, a question that nobody could answer. */
function commandCases({ outcome: { code, number }, message, suggestions }: JunitFacts): readonly TestCase[] {
  // 2: changes are pending, which is what was asked.
  if (number === 0 || number === 2) return [];
  const exit = `${code} (exit ${number})`;
  return [failedCommand('command', exit, message ?? exit, suggestions)];
}

function failedCommand(name: string, exit: string, message: string, suggestions: readonly string[]): TestCase {
  return { name, group: 'command', outcome: 'failed', message, text: [exit, message, ...suggestions].join('\n') };
}
