import { groupOf } from '../core/object.ts';
import type { ProgramOf } from '../ui/action-text.ts';
import type { OutputDocument } from './documents.ts';

export type OutputFormat = 'table' | 'wide' | 'json' | 'yaml' | 'name' | 'markdown' | 'junit';

/** The human form of a document, which only its command knows. */
export type HumanLines = (wide: boolean) => readonly string[] | Promise<readonly string[]>;

/** A document in the asked format; always ends with a newline unless it is empty. */
export async function outputText(document: OutputDocument, format: OutputFormat, human: HumanLines, programOf: ProgramOf): Promise<string> {
  switch (format) {
    case 'table':
    case 'wide':
      return lines([...(await human(format === 'wide')), `Next: ${document.next}`]);
    case 'json':
      return `${JSON.stringify(document, undefined, 2)}\n`;
    case 'yaml':
      return (await import('./yaml-text.ts')).yamlText(document);
    case 'name':
      return lines(names(document));
    case 'markdown':
      return markdown(document, programOf);
    case 'junit':
      return junit(document);
  }
}

const lines = (all: readonly string[]) => all.map((line) => `${line}\n`).join('');

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
  }
}

function objectName({ apiVersion, kind, name }: { readonly apiVersion: string; readonly kind: string; readonly name: string }): string {
  const group = groupOf(apiVersion);
  return `${kind.toLowerCase()}${group ? `.${group}` : ''}/${name}`;
}

async function markdown(document: OutputDocument, programOf: ProgramOf): Promise<string> {
  const { markdownText } = await import('../ui/report-markdown.ts');
  const parts = partsOf(document);
  const facts = [
    ['result', `${document.exit.code} (exit ${document.exit.number})`],
    ['target', document.target ?? 'none recorded'],
    ['cluster', `${document.cluster.context} ${document.cluster.server} ${document.cluster.uid}`],
  ] as const;
  return markdownText({ title: titleOf(document), facts, ...parts, next: document.next }, programOf);
}

async function junit(document: OutputDocument): Promise<string> {
  const { junitText } = await import('../ui/report-junit.ts');
  const { findings, stages } = partsOf(document);
  return junitText(`netsvc-upgrade ${titleOf(document)}`, findings, stages);
}

function titleOf(document: OutputDocument): string {
  return document.kind === 'RunReport' ? `Run report: ${document.command}` : document.kind;
}

function partsOf(document: OutputDocument) {
  switch (document.kind) {
    case 'PreflightReport':
      return { findings: document.findings, plans: [], stages: [] };
    case 'Plan':
      return { findings: document.findings, plans: document.stages, stages: [] };
    case 'RunReport':
      return { findings: document.findings, plans: document.plans, stages: document.stages };
    case 'Status':
      return { findings: [], plans: [], stages: document.record?.stages ?? [] };
  }
}
