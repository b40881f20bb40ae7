import type { Finding } from '../core/check.ts';
import { refText } from '../core/object.ts';
import type { PlannedStage } from '../core/plan.ts';
import { actionText, type ProgramOf } from './action-text.ts';
import { tallyLine } from './findings.ts';
import type { ReportFailure } from './report-failure.ts';

/** A report as it can be pasted into a ticket. */
export interface ReportFacts {
  readonly title: string;
  /** `target`, `cluster`, …: the facts above the lists. */
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly findings: readonly Finding[];
  readonly plans: readonly PlannedStage[];
  readonly stages: readonly { readonly id: string; readonly state: string; readonly because?: string }[];
  readonly next: string;
}

export function markdownText(report: ReportFacts, programOf: ProgramOf): string {
  const sections = [
    `# ${report.title}`,
    report.facts.map(([name, value]) => `- ${name}: ${cell(value)}`).join('\n'),
    findingsSection(report.findings),
    stagesSection(report),
    objectsSection(report.plans),
    stepsSection(report.plans, programOf),
    `Next: \`${report.next}\``,
  ];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

/** The same for a command that ended before it had anything to report. */
export function failureMarkdown({ command, exit, message, suggestions }: ReportFailure): string {
  const next = suggestions.map((one) => `- ${cell(one)}`).join('\n');
  return [`# ${cell(command)}`, `- result: ${exit}\n- error: ${cell(message)}`, ...(next === '' ? [] : [`## Next\n\n${next}`]), ''].join(
    '\n\n',
  );
}

function findingsSection(findings: readonly Finding[]): string {
  if (findings.length === 0) return '';
  const shown = findings.filter((finding) => finding.outcome !== 'not-applicable');
  const rows = shown.map((one) => [
    one.outcome,
    one.id,
    one.message,
    [one.hint, one.next].filter((text) => text !== undefined).join(' — '),
  ]);
  return `## Checks\n\n${tallyLine(findings)}\n\n${markdownTable(['Outcome', 'Check', 'Fact', 'Next'], rows)}`;
}

function stagesSection({ stages }: ReportFacts): string {
  if (stages.length === 0) return '';
  return `## Stages\n\n${markdownTable(
    ['Stage', 'State', 'Because'],
    stages.map((stage) => [stage.id, stage.state, stage.because ?? '']),
  )}`;
}

function objectsSection(plans: readonly PlannedStage[]): string {
  const objects = plans.flatMap((plan) => plan.objects).filter((object) => object.change !== 'unchanged');
  if (objects.length === 0) return '';
  const rows = objects.map((object) => [refText(object.ref), object.change, String(object.fields.length), object.note ?? '']);
  return `## Objects\n\n${markdownTable(['Object', 'Action', 'Fields', 'Note'], rows)}`;
}

function stepsSection(plans: readonly PlannedStage[], programOf: ProgramOf): string {
  const steps = plans.flatMap((plan) => plan.actions.map((action) => `1. ${plan.id}: \`${actionText(action, programOf)}\``));
  return steps.length === 0 ? '' : `## Steps\n\n${steps.join('\n')}`;
}

function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
