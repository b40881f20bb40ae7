import type { Finding } from '../core/check.ts';
import type { ReportFacts, ReportStage } from './report-facts.ts';
import type { ReportFailure } from './report-failure.ts';

type JunitFacts = Pick<ReportFacts, 'title' | 'findings' | 'stages' | 'history'>;

/** A report as JUnit XML: a suite of the checks and one of the stages; warnings pass, with their text as output. */
export function junitText({ title, findings, stages, history }: JunitFacts): string {
  const times = stages.map(secondsOf).filter((one) => one !== undefined);
  const suites: readonly Suite[] = [
    { name: `netsvc-upgrade ${title} checks`, cases: findings.map(findingCase) },
    { name: `netsvc-upgrade ${title} stages`, cases: stages.map(stageCase), seconds: times.reduce((sum, one) => sum + one, 0) },
  ];
  return document(
    suites.filter(({ cases }) => cases.length > 0),
    history?.startedAt,
  );
}

/** The same for a command that ended before it had checks or stages: one test case, which failed. */
export function junitOfFailure({ command, exit, message, suggestions }: ReportFailure): string {
  const text = [exit, message, ...suggestions].join('\n');
  const failed: Case = { name: command, group: 'command', outcome: 'failed', message, text };
  return document([{ name: `netsvc-upgrade ${command}`, cases: [failed] }], undefined);
}

interface Case {
  readonly name: string;
  readonly group: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  readonly message?: string;
  readonly text?: string;
  readonly seconds?: number;
}

interface Suite {
  readonly name: string;
  readonly cases: readonly Case[];
  readonly seconds?: number;
}

function document(suites: readonly Suite[], timestamp: string | undefined): string {
  const all = suites.flatMap(({ cases }) => cases);
  // The common schema wants a time without a fraction and without a zone.
  const when = timestamp === undefined ? '' : ` timestamp="${escaped(timestamp.slice(0, 19))}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${countsOf(all)}>`,
    ...suites.flatMap((suite) => [
      `  <testsuite name="${escaped(suite.name)}" ${countsOf(suite.cases)}${when}${timeOf(suite.seconds)}>`,
      ...suite.cases.map((one) => `    ${caseText(one)}`),
      '  </testsuite>',
    ]),
    '</testsuites>',
    '',
  ].join('\n');
}

function countsOf(cases: readonly Case[]): string {
  const count = (outcome: Case['outcome']) => cases.filter((one) => one.outcome === outcome).length;
  return `tests="${cases.length}" failures="${count('failed')}" errors="0" skipped="${count('skipped')}"`;
}

function caseText({ name, group, outcome, message = '', text = '', seconds }: Case): string {
  const open = `<testcase classname="${escaped(group)}" name="${escaped(name)}"${timeOf(seconds)}`;
  if (outcome === 'failed') return `${open}><failure message="${escaped(message)}">${escaped(text)}</failure></testcase>`;
  if (outcome === 'skipped') return `${open}><skipped message="${escaped(message)}"/></testcase>`;
  return text === '' ? `${open}/>` : `${open}><system-out>${escaped(text)}</system-out></testcase>`;
}

const timeOf = (seconds: number | undefined) => (seconds === undefined ? '' : ` time="${seconds.toFixed(3)}"`);

function findingCase({ id, title, category, outcome, message, hint, next, evidence }: Finding): Case {
  const of = { name: `${id} ${title}`, group: category };
  const text = [message, hint, next, ...evidence.map((one) => one.text)].filter((one) => one !== undefined).join('\n');
  if (outcome === 'ok') return { ...of, outcome: 'passed' };
  if (outcome === 'not-applicable') return { ...of, outcome: 'skipped', message };
  if (outcome === 'error') return { ...of, outcome: 'failed', message, text };
  return { ...of, outcome: 'passed', text: `${outcome}: ${text}` };
}

/** A stage that is still at work when the report is made has not passed. */
function stageCase(stage: ReportStage): Case {
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

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\n': '&#10;', '\t': '&#9;' };

/** XML 1.0 has no control characters and no halves of characters, not even escaped. */
function escaped(text: string): string {
  return [...text.toWellFormed()]
    .filter((one) => (one >= ' ' || one === '\n' || one === '\t') && one !== '\ufffe' && one !== '\uffff')
    .map((one) => ENTITIES[one] ?? one)
    .join('');
}
