import type { Step } from '../../kernel/step.ts';
import type { ReportFacts } from '../../report/model.ts';
import type { OutputDocument, RunReport } from '../documents.ts';

/** What the forms of a report, notifications and metrics tell of a document. */
export interface Told extends Partial<Pick<ReportFacts, 'message' | 'suggestions' | 'findings' | 'plans' | 'history' | 'change'>> {
  readonly title: string;
  /** The suggestions as data. */
  readonly steps?: readonly Step[] | undefined;
  readonly runId?: string | undefined;
  /** Release before, and after. */
  readonly from?: string | undefined;
  /** `v3.26.4 before, v3.32.2 after`. */
  readonly versions?: string | undefined;
  readonly stages?: RunReport['stages'];
  /** The commands that did a part of it each. */
  readonly parts?: RunReport['parts'];
}

type Kind = OutputDocument['kind'];

/** Every kind of document: what is told of it. A new kind is a row. */
const KINDS: { readonly [K in Kind]: (document: Extract<OutputDocument, { readonly kind: K }>) => Omit<Told, 'title'> & Partial<Told> } = {
  PreflightReport: ({ findings }) => ({ findings }),
  Plan: ({ installed: { release }, message, suggestions, steps, findings, stages: plans, change }) => ({
    ...{ from: release, versions: release && `${release} installed` },
    ...{ message, suggestions, steps, findings, plans, change },
  }),
  RunReport: ({ command, runId, versions, parts, message, suggestions, steps, findings, plans, stages, history }) => ({
    ...{ title: `Run report: ${command}`, runId, from: versions?.before, versions: versions && versionsText(versions), parts },
    ...{ message, suggestions, steps, findings, plans, stages, history },
  }),
  OwnerReferenceList: () => ({}),
  Status: ({ record }) => ({ runId: record?.runId, stages: record?.stages ?? [] }),
};

export function toldOf(document: OutputDocument): Told {
  const told = KINDS[document.kind] as (document: OutputDocument) => Partial<Told>;
  return { title: document.kind, ...told(document) };
}

function versionsText({ before, after }: NonNullable<RunReport['versions']>): string {
  return [before && `${before} before`, after && `${after} after`].filter((text) => text !== undefined).join(', ');
}
