import type { ActionText } from '../kernel/effect-type.ts';
import { groupOf } from '../kernel/object.ts';
import { oneLine, visible } from '../kernel/visible.ts';
import type { ReportFacts } from '../report/model.ts';
import type { OUTPUT_FORMATS } from './common-flags.ts';
import type { OutputDocument } from './documents.ts';

export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** The human form of a document, which only its command knows. */
export type HumanLines = (wide: boolean) => readonly string[] | Promise<readonly string[]>;

/** The words for actions are loaded by the formats that name any. */
export type LoadText = () => Promise<ActionText>;

/** A document in the asked format; always ends with a newline unless it is empty. */
export async function outputText(document: OutputDocument, format: OutputFormat, human: HumanLines, textOf: LoadText): Promise<string> {
  switch (format) {
    case 'table':
    case 'wide':
      return linesText([...(await human(format === 'wide')), nextLine(document)]);
    case 'json':
      return visible(`${JSON.stringify(document, undefined, 2)}\n`);
    case 'yaml':
      return (await import('./yaml-text.ts')).yamlText(document);
    case 'name':
      return linesText(names(document));
    case 'markdown':
    case 'junit':
    case 'html':
      return reportText(format, (await import('./ending/facts.ts')).reportFacts(document), textOf);
  }
}

const REPORTS = {
  markdown: async () => (await import('../report/report-markdown.ts')).markdownText,
  junit: async () => (await import('../report/report-junit.ts')).junitText,
  html: async () => (await import('../report/report-html.ts')).htmlText,
};

/** Without a plan there is no action to name. */
export async function reportText(format: keyof typeof REPORTS, facts: ReportFacts, textOf: LoadText): Promise<string> {
  const made = await REPORTS[format]();
  return made(facts, facts.plans.length === 0 ? () => '' : await textOf());
}

/** Formats that the user reads in a terminal. */
export const isForPerson = (format: OutputFormat): boolean => format === 'table' || format === 'wide';

export const linesText = (all: readonly string[]): string => all.map((line) => `${oneLine(line)}\n`).join('');

export const nextLine = ({ next }: OutputDocument): string => `Next: ${next}`;

/** `kind.group/name` of what would change, or the ids of findings that need somebody. */
function names(document: OutputDocument): readonly string[] {
  switch (document.kind) {
    case 'Plan':
      return document.stages
        .flatMap((stage) => stage.objects)
        .filter((object) => object.change !== 'unchanged')
        .map((object) => objectName(object.ref));
    case 'PreflightReport':
      return document.findings.filter((finding) => ['error', 'warning', 'accepted'].includes(finding.outcome)).map((finding) => finding.id);
    case 'RunReport':
      return document.stages.map((stage) => `stage/${stage.id}`);
    case 'Status':
      return document.record ? [`run/${document.record.runId}`] : [];
    case 'OwnerReferenceList':
      return [...new Set(document.references.map(({ object }) => objectName(object)))];
  }
}

function objectName({ apiVersion, kind, name }: { readonly apiVersion: string; readonly kind: string; readonly name: string }): string {
  const group = groupOf(apiVersion);
  return `${kind.toLowerCase()}${group ? `.${group}` : ''}/${name}`;
}
