import type { ActionText } from '../../kernel/effect-type.ts';
import type { ReportFacts } from '../../report/model.ts';
import type { OutputDocument } from '../documents.ts';

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
  const { exit, next } = document;
  const none = { suggestions: [], findings: [], plans: [], stages: [] };
  return { ...none, title: titleOf(document), outcome: exit, facts: headFacts(document), ...partsOf(document), next };
}

export function titleOf(document: OutputDocument): string {
  return document.kind === 'RunReport' ? `Run report: ${document.command}` : document.kind;
}

function headFacts(document: OutputDocument): ReportFacts['facts'] {
  const { exit, target, cluster, made } = document;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['result', `${exit.code} (exit ${exit.number})`],
    ['target', target ?? 'none recorded'],
    ['versions', versionsOf(document)],
    ['cluster', `${cluster.context} ${cluster.server} ${cluster.uid}`],
    ['run', document.kind === 'RunReport' ? document.runId : document.kind === 'Status' ? document.record?.runId : undefined],
    ['command', made?.commandLine],
    ['by', made && `${made.by}, with version ${made.toolVersion}`],
    ...partFacts(document),
    ['report made', made?.at],
  ];
  return facts.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}

function partFacts(document: OutputDocument): readonly (readonly [string, string])[] {
  const parts = document.kind === 'RunReport' ? (document.parts ?? []) : [];
  return parts.map(
    ({ commandLine, startedAt, by, exit }) => ['part', `${startedAt} ${commandLine} by ${by}: ${exit.code} (exit ${exit.number})`] as const,
  );
}

/** `v3.26.4 before, v3.32.2 after`. */
function versionsOf(document: OutputDocument): string | undefined {
  if (document.kind === 'Plan') return document.installed.release && `${document.installed.release} installed`;
  if (document.kind !== 'RunReport' || document.versions === undefined) return undefined;
  const { before, after } = document.versions;
  return [before && `${before} before`, after && `${after} after`].filter((text) => text !== undefined).join(', ');
}

function partsOf(document: OutputDocument): Partial<ReportFacts> {
  switch (document.kind) {
    case 'PreflightReport':
      return { findings: document.findings };
    case 'Plan': {
      const { message, suggestions = [], findings, stages: plans, change } = document;
      return { message, suggestions, findings, plans, change };
    }
    case 'RunReport': {
      const { message, suggestions, findings, plans, stages, history } = document;
      return { message, suggestions, findings, plans, stages, history };
    }
    case 'OwnerReferenceList':
      return {};
    case 'Status':
      return { stages: document.record?.stages ?? [] };
  }
}
