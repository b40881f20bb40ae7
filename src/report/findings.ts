import type { Category, Evidence, Finding } from '../kernel/check.ts';
import { counted } from '../kernel/counted.ts';
import { hintOf, tally } from '../kernel/judge.ts';
import { wholeOf } from '../kernel/step.ts';
import type { Palette } from './colour.ts';

const SHOWN_EVIDENCE = 5;

export interface FindingsView {
  readonly palette: Palette;
  /** Everything: what did not apply, and every piece of evidence. */
  readonly wide: boolean;
  /** Leaves out what passed; the tally still counts it. */
  readonly openOnly?: boolean;
  /** What recommends something is shown all the same. */
  readonly advice?: boolean;
  /** Shows only the number of passed checks, one line per group, unless everything is asked for. */
  readonly folded?: boolean;
}

/** The list of evaluated checks, grouped by what they look at, with the tally as its last line. */
export function findingsLines(findings: readonly Finding[], view: FindingsView): readonly string[] {
  const categories = [...new Set(findings.map((finding) => finding.category))];
  return [...categories.flatMap((category) => categoryLines(category, findings, view)), tallyLine(findings, view)];
}

function categoryLines(category: Category, findings: readonly Finding[], view: FindingsView): readonly string[] {
  const mine = findings.filter((finding) => finding.category === category);
  if (view.folded && !view.wide && !view.openOnly) return foldedLines(category, mine, view);
  const lines = mine.flatMap((finding) => findingLines(finding, view));
  return lines.length === 0 ? [] : [view.palette.strong(category), ...lines];
}

/** `√ kubernetes: 6 checks`, where all of them hold; below the open ones of a group, how many others hold. */
function foldedLines(category: Category, findings: readonly Finding[], view: FindingsView): readonly string[] {
  const { palette } = view;
  const held = findings.filter((finding) => finding.outcome === 'ok' && !isAdvice(finding));
  const lines = findings.filter((finding) => !held.includes(finding)).flatMap((finding) => findingLines(finding, view));
  if (lines.length > 0)
    return [palette.strong(category), ...lines, ...(held.length > 0 ? [palette.dim(`√ ${counted(held.length, 'other check')}`)] : [])];
  return held.length === 0 ? [] : [`${palette.good('√')} ${category}: ${counted(held.length, 'check')}`];
}

/** What is recommended for later holds today. */
function isAdvice({ aside }: Finding): boolean {
  return aside === 'advice';
}

/** One finding: mark, id and fact; what to do is indented below it. */
export function findingLines(finding: Finding, view: FindingsView): readonly string[] {
  const { palette } = view;
  const id = `${finding.id} ${palette.column}`;
  const head = id + finding.message;
  switch (finding.outcome) {
    case 'ok':
      if (isAdvice(finding)) return view.openOnly && !view.advice ? [] : [`${palette.dim('i')} ${head}`];
      return view.openOnly ? [] : [`${palette.good('√')} ${head}`];
    case 'not-applicable':
      if (finding.aside === 'left-out') return [palette.dim(`- ${head}`)];
      if (!view.wide) return [];
      return [palette.dim(finding.aside === 'not-evaluated' ? `- ${head}` : `- ${id}does not apply: ${finding.message}`)];
    case 'warning':
      return [`${palette.warn('‼')} ${head}`, ...advice(finding, view)];
    case 'error':
      return [`${palette.bad('×')} ${head}`, ...advice(finding, view)];
    case 'accepted':
      return [
        `${palette.warn('~')} ${id}accepted with --accept (was: ${finding.was ?? 'error'}) ${finding.message}`,
        ...proof(finding, view),
      ];
    case 'expected':
      // What the run itself causes needs no action.
      return [`  ${finding.id} expected during this run: ${finding.message}`];
    case 'cured':
      return view.openOnly ? [] : [`${palette.good('√')} ${id}settled by this run (was: ${finding.message})`];
  }
}

const indentedLines = (text: string): readonly string[] => text.split('\n').map((line) => `    ${line}`);

function advice(finding: Finding, view: FindingsView): readonly string[] {
  const { said } = view.palette;
  const hints = finding.steps === undefined ? [finding.hint ?? ''] : hintOf(finding).map((step) => said(wholeOf(step)));
  const hint = hints.filter((text) => text !== '').flatMap(indentedLines);
  const { neededBy = [] } = finding;
  const ids = view.wide ? ` (${neededBy.join(', ')})` : '';
  const folded =
    neededBy.length === 0
      ? []
      : [`    ${counted(neededBy.length, 'check')} not evaluated: need${neededBy.length === 1 ? 's' : ''} ${finding.id}${ids}`];
  return [...proof(finding, view), ...folded.map(view.palette.dim), ...hint, ...(finding.next ? [`    next: ${said(finding.next)}`] : [])];
}

function proof({ evidence }: Finding, { wide, palette }: FindingsView): readonly string[] {
  const shown = wide ? evidence : evidence.slice(0, SHOWN_EVIDENCE);
  const rest = evidence.length - shown.length;
  return [...shown.map((one) => evidenceLine(one, wide)), ...(rest > 0 ? [`    … and ${rest} more, with -o wide`] : [])].map(palette.dim);
}

function evidenceLine(one: Evidence, wide: boolean): string {
  // Not both: of a long detail the whole is put together only where it is shown.
  const detail = wide ? one.detail : (one.brief ?? one.detail);
  return `    - ${one.text}${detail ? `: ${detail}` : ''}`;
}

/** `41 ok, 1 warning, 1 error, 1 accepted`: each line above is in one of them. What there is none of is left out, but never the number of passed checks. */
export function tallyLine(findings: readonly Finding[], { wide }: Pick<FindingsView, 'wide'>): string {
  const { ok, warning, error, accepted } = tally(findings);
  const advised = findings.filter(isAdvice).length;
  const expected = findings.filter(({ outcome }) => outcome === 'expected').length;
  const silent = findings.filter(({ outcome }) => outcome === 'not-applicable');
  const leftOut = silent.filter(({ aside }) => aside === 'left-out').length;
  const parts = [
    `${ok - advised - expected} ok`,
    advised > 0 ? `${advised} advice` : '',
    warning > 0 ? counted(warning, 'warning') : '',
    error > 0 ? counted(error, 'error') : '',
    ...[
      [accepted, 'accepted'],
      [expected, 'expected during this run'],
      [leftOut, 'left out'],
      [wide ? silent.length - leftOut : 0, 'not evaluated or not applicable'],
    ].map(([count, what]) => (count === 0 ? '' : `${count} ${what}`)),
  ];
  return parts.filter((part) => part !== '').join(', ');
}
