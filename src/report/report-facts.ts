import type { Finding } from '../kernel/check.ts';
import type { RunHistory } from '../kernel/history.ts';
import type { PlannedStage } from '../kernel/plan.ts';

/** A stage as a report shows it; times where they are known. */
export interface ReportStage {
  readonly id: string;
  readonly state: string;
  readonly startedAt?: string;
  readonly endedAt?: string;
  readonly because?: string;
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
  /** The exact next command. */
  readonly next: string;
}
