import type { Finding } from '../kernel/check.ts';
import type { RolloutTrace, RunHistory } from '../kernel/history.ts';
import type { PlannedStage } from '../kernel/plan.ts';
import type { ChangePacket } from './change-packet.ts';

/** A stage as a report shows it; times where they are known. */
export interface ReportStage {
  readonly id: string;
  readonly state: string;
  readonly startedAt?: string;
  readonly endedAt?: string;
  /** At work, where several commands performed it: not what was between them. */
  readonly durationMs?: number;
  readonly because?: string;
  readonly undo?: true;
}

/** What every form of a report is made from. */
export interface ReportFacts {
  readonly title: string;
  readonly outcome: { readonly code: string; readonly number: number };
  /** `target`, `cluster`, …: the facts above the lists. */
  readonly facts: readonly (readonly [name: string, value: string])[];
  /** Why it ended early, and what to do about it. */
  readonly message?: string;
  readonly suggestions: readonly string[];
  readonly findings: readonly Finding[];
  readonly plans: readonly PlannedStage[];
  readonly stages: readonly ReportStage[];
  readonly history?: RunHistory;
  /** Of a plan: what a change board asks. */
  readonly change?: ChangePacket;
  /** The exact next command. */
  readonly next: string;
}

/** What a report is made of. Sections are data: renderers know these shapes and no feature. */
export type Section = TableSection | RolloutSection;

interface Headed {
  /** Where a link leads, unique in the report; `main`, `next`, `search…` and `rollout-data` are the page's own. */
  readonly id: string;
  /** In the list of parts: one or two words. */
  readonly name: string;
  readonly title: string;
}

export interface TableSection extends Headed {
  readonly kind: 'table';
  /** A sentence above everything. */
  readonly lead?: string;
  readonly items?: readonly string[];
  readonly table?: Table;
  /** Below the table, with a heading of its own. */
  readonly notes?: { readonly title: string; readonly items: readonly string[] };
}

/** Rolling updates, which a page draws. */
export interface RolloutSection extends Headed {
  readonly kind: 'rollouts';
  readonly rollouts: readonly RolloutTrace[];
}

export interface Table {
  /** For those who do not see the page. */
  readonly label: string;
  readonly head: readonly string[];
  readonly rows: readonly Row[];
  /** How a page lays it out; `found` where nothing is said. */
  readonly layout?: 'timeline';
  /** Column that names the row; the first where nothing is said. */
  readonly heading?: number;
  /** Column that only a page can draw. */
  readonly drawn?: number;
  /** Rows before a page's fold; all where nothing is said. */
  readonly unfolded?: number;
  /** Title of the fold for the minor rows; `names` has what each is called, and nothing else of it. */
  readonly minor?: { readonly title: string; readonly only?: 'names' };
}

export interface Row {
  readonly cells: readonly Cell[];
  /** Nothing that anybody has to do something about: behind a fold, or left out. */
  readonly isMinor?: boolean;
  /** A minor row that does not apply here: only the page has it. */
  readonly isMoot?: boolean;
}

export interface Cell {
  readonly text?: string;
  /** A command, a path or a value. */
  readonly code?: string;
  /** What is said below it. */
  readonly small?: string;
  /** What a program said, in its own lines. */
  readonly output?: string;
  /** Class of its colour: `o-` an outcome, `s-` a state. */
  readonly tone?: string;
  readonly fold?: Fold;
  readonly bar?: Bar;
}

export interface Fold {
  readonly title: string;
  readonly items: readonly FoldItem[];
}

export interface FoldItem {
  readonly code?: string;
  readonly text?: string;
  readonly before?: string;
  readonly after?: string;
}

/** Percent of the axis. */
export interface Bar {
  readonly from: number;
  readonly width: number;
  readonly tone: 'done' | 'failed' | 'skipped';
}
