import type { ActionText } from '../../kernel/effect-type.ts';
import type { ReportFacts } from '../../report/model.ts';
import type { OutputDocument } from '../documents.ts';
import { type Told, toldOf } from './kinds.ts';

/** The words for actions are loaded by the formats that name any. */
export type LoadText = () => Promise<ActionText>;

const REPORTS = {
  markdown: async () => (await import('../../report/report-markdown.ts')).markdownText,
  html: async () => (await import('../../report/report-html.ts')).htmlText,
};

/** Without a plan there is no action to name. */
export async function reportText(format: keyof typeof REPORTS, facts: ReportFacts, textOf: LoadText): Promise<string> {
  const made = await REPORTS[format]();
  return made(facts, facts.plans.length === 0 ? () => '' : await textOf());
}

/** A document as the report forms take it: Markdown and the page show the same facts. */
export function reportFacts(document: OutputDocument): ReportFacts {
  const { exit: outcome, next } = document;
  const { title, message, suggestions = [], findings = [], plans = [], stages = [], history, change } = toldOf(document);
  return { title, outcome, facts: headFacts(document), message, suggestions, findings, plans, stages, history, change, next };
}

function headFacts(document: OutputDocument): ReportFacts['facts'] {
  const { exit, target, cluster, made } = document;
  const { versions, runId, parts = [] } = toldOf(document);
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['result', `${exit.code} (exit ${exit.number})`],
    ['target', target ?? 'none recorded'],
    ['versions', versions],
    ['cluster', `${cluster.context} ${cluster.server} ${cluster.uid}`],
    ['run', runId],
    ['command', made?.commandLine],
    ['by', made && `${made.by}, with version ${made.toolVersion}`],
    ...parts.map(partFact),
    ['report made', made?.at],
  ];
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}

function partFact({ commandLine, startedAt, by, exit }: NonNullable<Told['parts']>[number]): readonly [string, string] {
  return ['part', `${startedAt} ${commandLine} by ${by}: ${exit.code} (exit ${exit.number})`];
}
