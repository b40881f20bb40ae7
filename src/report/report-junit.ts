import type { Finding } from '../kernel/check.ts';
import { clip } from './columns.ts';
import { type JunitCase, type JunitSuite, junitDocument } from './junit.ts';
import { movedSuites } from './junit-moved.ts';
import type { ReportFacts, ReportStage } from './report-facts.ts';
import type { ReportFailure } from './report-failure.ts';

/** Characters of the subjects in a name. */
const SUBJECTS = 200;

type JunitFacts = Omit<ReportFacts, 'next'>;

/**
 * A report as JUnit XML: a suite of the checks, one of the stages, and those of what was met of other people's things; warnings pass,
 * with their text as output, unless `--fail-on=warning` stopped the command for them. A command that failed never looks all green.
 */
export function junitText(report: JunitFacts): string {
  const { title, outcome, facts, findings, plans, stages, history } = report;
  const times = stages.map(secondsOf).filter((one) => one !== undefined);
  const failing = outcome.code === 'warned' ? ['error', 'warning'] : ['error'];
  const suites: readonly JunitSuite[] = [
    { name: 'checks', cases: findings.map((one) => findingCase(one, nameOf(one, findings), failing)) },
    { name: 'stages', cases: stages.map(stageCase), seconds: times.reduce((sum, one) => sum + one, 0) },
    ...movedSuites(plans),
  ];
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

/** What ended the command, where neither a check nor a stage says it: a step left to a person, a question that nobody could answer. */
function commandCases({ outcome: { code, number }, message, suggestions }: JunitFacts): readonly JunitCase[] {
  // 2: changes are pending, which is what was asked.
  if (number === 0 || number === 2) return [];
  const exit = `${code} (exit ${number})`;
  return [failedCommand('command', exit, message ?? exit, suggestions)];
}

function failedCommand(name: string, exit: string, message: string, suggestions: readonly string[]): JunitCase {
  return { name, group: 'command', outcome: 'failed', message, text: [exit, message, ...suggestions].join('\n') };
}

/** Readers of JUnit take two cases of one name for one: a check that is open about different things names them. */
function nameOf({ id, title, evidence }: Finding, all: readonly Finding[]): string {
  const isAlone = all.filter((one) => one.id === id).length === 1;
  return isAlone ? `${id} ${title}` : `${id} ${title}: ${clip(evidence.map(({ text }) => text).join(', '), SUBJECTS)}`;
}

function findingCase({ category, outcome, message, hint, next, evidence }: Finding, name: string, failing: readonly string[]): JunitCase {
  const of = { name, group: category };
  const text = [message, hint, next, ...evidence.map((one) => one.text)].filter((one) => one !== undefined).join('\n');
  if (outcome === 'ok') return { ...of, outcome: 'passed' };
  if (outcome === 'not-applicable') return { ...of, outcome: 'skipped', message };
  if (failing.includes(outcome)) return { ...of, outcome: 'failed', message, text };
  return { ...of, outcome: 'passed', text: `${outcome}: ${text}` };
}

/** A stage that is still at work when the report is made has not passed. */
function stageCase(stage: ReportStage): JunitCase {
  const { id, state, because = '' } = stage;
  const seconds = secondsOf(stage);
  const of = { name: id, group: 'stages', ...(seconds === undefined ? {} : { seconds }) };
  if (state === 'skipped') return { ...of, outcome: 'skipped', message: because };
  if (state === 'done') return { ...of, outcome: 'passed' };
  return { ...of, outcome: 'failed', message: because === '' ? state : because, text: because };
}

function secondsOf({ startedAt, endedAt }: ReportStage): number | undefined {
  const took = Date.parse(endedAt ?? '') - Date.parse(startedAt ?? '');
  return Number.isFinite(took) ? Math.max(0, took) / 1000 : undefined;
}
