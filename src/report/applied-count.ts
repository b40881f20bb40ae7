import { counted } from '../kernel/counted.ts';
import type { EngineEvent } from '../kernel/event.ts';

type Output = Pick<Extract<EngineEvent, { readonly type: 'action-output' }>, 'line' | 'stream'>;

/** A line of kubectl for one object: `daemonset.apps/calico-node serverside-applied (server dry run)`. */
const OBJECT = /^[a-z0-9.-]+\/\S+ ([a-z][a-z-]*)((?: \(server dry run\))?)$/;

/** Counts the objects that one run of kubectl names, by what became of them. */
export class AppliedCount {
  readonly #ends = new Map<string, number>();

  /** True if the line names an object, and says no more than that. */
  counts({ line, stream }: Output): boolean {
    return stream === 'stdout' && OBJECT.test(line);
  }

  /** Counts the line if it names an object; true if so. */
  see(output: Output): boolean {
    if (!this.counts(output)) return false;
    const [, verb = '', dryRun = ''] = OBJECT.exec(output.line) ?? [];
    const end = verb.replace(/^serverside-/, '') + dryRun;
    this.#ends.set(end, (this.#ends.get(end) ?? 0) + 1);
    return true;
  }

  /** `17 objects applied`, `3 objects created, 2 configured`; empty where none was named. */
  text(): string {
    return [...this.#ends].map(([end, count], index) => `${index === 0 ? counted(count, 'object') : count} ${end}`).join(', ');
  }

  /** The same, and counts from zero again. */
  take(): string {
    const text = this.text();
    this.#ends.clear();
    return text;
  }
}
