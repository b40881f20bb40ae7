import type { Action } from '../kernel/action.ts';
import type { Finding } from '../kernel/check.ts';
import { oneFindingEach } from '../kernel/judge.ts';
import type { AnyStage } from '../kernel/stage.ts';

/** What the checks found so far, and what the run itself has fixed of it since. */
export class Judged {
  readonly #byStage = new Map<string, readonly Finding[]>();
  readonly #cured = new Set<string>();

  /** Only the last round of a stage counts. A finding after its fix is no longer fixed: it came back. */
  put(stage: string, findings: readonly Finding[]): void {
    this.#byStage.set(stage, findings);
    for (const { id, evidence } of findings.filter(isOpen))
      for (const key of [id, ...evidence.map(({ text }) => keyOf(id, text))]) this.#cured.delete(key);
  }

  /** The action was performed: what it is said to fix is no longer open. */
  cured({ cures = [] }: Action): void {
    for (const { check, subject } of cures) this.#cured.add(keyOf(check, subject));
  }

  /** The stage has ended: what it proves is no longer open, whatever an earlier stage found. */
  settled({ settles = [] }: Pick<AnyStage, 'settles'>): void {
    for (const check of settles) this.#cured.add(keyOf(check, undefined));
  }

  /** In the order of the stages, each check once. A finding is fixed once all its subjects are. */
  get findings(): readonly Finding[] {
    const all = [...this.#byStage.values()].flat();
    return oneFindingEach(all.map((finding) => (this.#isCured(finding) ? { ...finding, outcome: 'cured' } : finding)));
  }

  #isCured(finding: Finding): boolean {
    const { id, evidence } = finding;
    if (!isOpen(finding)) return false;
    return this.#cured.has(id) || (evidence.length > 0 && evidence.every(({ text }) => this.#cured.has(keyOf(id, text))));
  }
}

/** What the user accepted stays accepted; what a running upgrade explains ends with it. */
function isOpen({ outcome }: Finding): boolean {
  return outcome === 'warning' || outcome === 'error' || outcome === 'expected';
}

function keyOf(check: string, subject: string | undefined): string {
  return subject === undefined ? check : `${check}=${subject}`;
}

/** What actions of one stage found out, and what its waits continued without. */
export class Told {
  readonly #left = new Map<string, string>();
  readonly #told = new Set<string>();
  /** What waits of this round continued without. */
  readonly #behind = new Set<string>();
  /** The ids of the last round's actions and what its waits continued without, if it changed nothing. */
  #lastLeft: string | undefined;

  beginRound(): void {
    this.#behind.clear();
  }

  add({ left = {}, told }: { readonly left?: Readonly<Record<string, string>>; readonly told?: string }): void {
    for (const [what, why] of Object.entries(left)) {
      this.#left.set(what, why);
      this.#behind.add(what);
    }
    if (told !== undefined) this.#told.add(told);
  }

  get leftNothing(): boolean {
    return this.#left.size === 0;
  }

  /** True if the round before continued without the same: planning again would lead to the same waits again. */
  leavesTheSame(actions: readonly Action[], changes: boolean): boolean {
    const behind = [...this.#behind].sort();
    const now = behind.length > 0 && !changes ? JSON.stringify([actions.map(({ id }) => id), behind]) : undefined;
    const isSame = now !== undefined && now === this.#lastLeft;
    this.#lastLeft = now;
    return isSame;
  }

  /** In one line; undefined if there is nothing to say. */
  get text(): string | undefined {
    const behind = [...this.#left].map(([what, why]) => `${what} (${why})`).join('; ');
    const all = [...this.#told, ...(behind === '' ? [] : [`left behind: ${behind}`])];
    return all.length === 0 ? undefined : all.join('; ');
  }
}
