import type { Action } from '../kernel/action.ts';
import type { Finding } from '../kernel/check.ts';
import { oneFindingEach } from '../kernel/one-finding.ts';

/** What the checks found so far, and what the run itself has cured of it since. */
export class Judged {
  readonly #byStage = new Map<string, readonly Finding[]>();
  readonly #cured = new Set<string>();

  /** A stage that is judged again is judged by its last round only. */
  put(stage: string, findings: readonly Finding[]): void {
    this.#byStage.set(stage, findings);
  }

  /** The action was performed: what it is said to cure is no longer open. */
  cured({ cures = [] }: Action): void {
    for (const { check, subject } of cures) this.#cured.add(keyOf(check, subject));
  }

  /** In the order of the stages, a check that several of them judged once. A finding is cured once every single thing that it is about is. */
  get findings(): readonly Finding[] {
    const all = [...this.#byStage.values()].flat();
    return oneFindingEach(all.map((finding) => (this.#isCured(finding) ? { ...finding, outcome: 'cured' } : finding)));
  }

  #isCured({ id, outcome, evidence }: Finding): boolean {
    // What a person accepted stays on the record as accepted.
    const isOpen = outcome === 'warning' || outcome === 'error';
    return isOpen && evidence.length > 0 && evidence.every(({ text }) => this.#cured.has(keyOf(id, text)));
  }
}

function keyOf(check: string, subject: string): string {
  return `${check}=${subject}`;
}
