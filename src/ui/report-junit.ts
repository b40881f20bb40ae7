import type { Finding } from '../core/check.ts';
import { type JunitCase, type JunitSuite, junitDocument } from './junit.ts';
import { movedSuites } from './junit-moved.ts';
import type { ReportFacts, ReportStage } from './report-facts.ts';
import type { ReportFailure } from './report-failure.ts';

type JunitFacts = Pick<ReportFacts, 'title' | 'facts' | 'findings' | 'plans' | 'stages' | 'history'>;

/** A report as JUnit XML: a suite of the checks, one of the stages, and those of what was met of other people's things; warnings pass, with their text as output. */
export function junitText({ title, facts, findings, plans, stages, history }: JunitFacts): string {
  const times = stages.map(secondsOf).filter((one) => one !== undefined);
  const suites: readonly JunitSuite[] = [
    { name: `netsvc-upgrade ${title} checks`, cases: findings.map(findingCase) },
    { name: `netsvc-upgrade ${title} stages`, cases: stages.map(stageCase), seconds: times.reduce((sum, one) => sum + one, 0) },
    ...movedSuites(plans).map(({ name, cases }) => ({ name: `netsvc-upgrade ${title} ${name}`, cases })),
  ];
  const [first, ...rest] = suites.filter(({ cases }) => cases.length > 0);
  return junitDocument(first ? [{ ...first, properties: facts }, ...rest] : [], history?.startedAt);
}

/** The same for a command that ended before it had checks or stages: one test case, which failed. */
export function junitOfFailure({ command, exit, message, suggestions }: ReportFailure): string {
  const text = [exit, message, ...suggestions].join('\n');
  const failed: JunitCase = { name: command, group: 'command', outcome: 'failed', message, text };
  return junitDocument([{ name: `netsvc-upgrade ${command}`, cases: [failed] }], undefined);
}

function findingCase({ id, title, category, outcome, message, hint, next, evidence }: Finding): JunitCase {
  const of = { name: `${id} ${title}`, group: category };
  const text = [message, hint, next, ...evidence.map((one) => one.text)].filter((one) => one !== undefined).join('\n');
  if (outcome === 'ok') return { ...of, outcome: 'passed' };
  if (outcome === 'not-applicable') return { ...of, outcome: 'skipped', message };
  if (outcome === 'error') return { ...of, outcome: 'failed', message, text };
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
