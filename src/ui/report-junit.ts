import type { Finding } from '../core/check.ts';
import type { ReportFailure } from './report-failure.ts';

/** A check list as JUnit XML: a test case per check; warnings pass, with their text as output. */
export function junitText(
  name: string,
  findings: readonly Finding[],
  stages: readonly { readonly id: string; readonly state: string; readonly because?: string }[],
): string {
  const checks = findings.map(findingCase);
  const steps = stages.map(stageCase);
  const failures = findings.filter((one) => one.outcome === 'error').length + stages.filter((one) => one.state === 'failed').length;
  const skipped =
    findings.filter((one) => one.outcome === 'not-applicable').length + stages.filter((one) => one.state === 'skipped').length;
  const counts = `tests="${checks.length + steps.length}" failures="${failures}" errors="0" skipped="${skipped}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="${escaped(name)}" ${counts}>`,
    ...[...checks, ...steps].map((one) => `    ${one}`),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

/** The same for a command that ended before it had checks or stages: one test case, which failed. */
export function junitOfFailure({ command, exit, message, suggestions }: ReportFailure): string {
  const counts = 'tests="1" failures="1" errors="0" skipped="0"';
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="${escaped(`netsvc-upgrade ${command}`)}" ${counts}>`,
    `    <testcase classname="command" name="${escaped(command)}"><failure message="${escaped(message)}">${escaped([exit, message, ...suggestions].join('\n'))}</failure></testcase>`,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function findingCase(finding: Finding): string {
  const open = `<testcase classname="${escaped(finding.category)}" name="${escaped(`${finding.id} ${finding.title}`)}"`;
  const text = [finding.message, finding.hint, finding.next, ...finding.evidence.map((one) => one.text)]
    .filter((one) => one !== undefined)
    .join('\n');
  switch (finding.outcome) {
    case 'ok':
      return `${open}/>`;
    case 'not-applicable':
      return `${open}><skipped message="${escaped(finding.message)}"/></testcase>`;
    case 'error':
      return `${open}><failure message="${escaped(finding.message)}">${escaped(text)}</failure></testcase>`;
    default:
      return `${open}><system-out>${escaped(`${finding.outcome}: ${text}`)}</system-out></testcase>`;
  }
}

function stageCase({ id, state, because }: { readonly id: string; readonly state: string; readonly because?: string }): string {
  const open = `<testcase classname="stages" name="${escaped(id)}"`;
  if (state === 'failed') return `${open}><failure message="${escaped(because ?? 'failed')}"/></testcase>`;
  return state === 'skipped' ? `${open}><skipped message="${escaped(because ?? '')}"/></testcase>` : `${open}/>`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\n': '&#10;' };

/** XML 1.0 has no control characters, not even escaped. */
function escaped(text: string): string {
  return [...text]
    .filter((character) => character >= ' ' || character === '\n' || character === '\t')
    .map((character) => ENTITIES[character] ?? character)
    .join('');
}
