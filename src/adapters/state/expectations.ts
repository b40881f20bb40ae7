import { createHash } from 'node:crypto';
import type { Content, Entry } from './ledger.ts';

/** What may be found under a name: digests of contents, with the UID where it is known; `absent` for nothing. */
type Acceptable = ReadonlySet<string>;

const ABSENT = 'absent';

/**
 * What this process last saw of each object of the state. While pinned, anything else than that is somebody else's doing. A write of
 * which no answer came leaves two possibilities, and the next read tells which.
 */
export class Expectations {
  readonly #known = new Map<string, Acceptable>();
  #pinned = false;

  pin(): void {
    this.#pinned = true;
  }

  unpin(): void {
    this.#pinned = false;
  }

  /** False if it is pinned, and this is not what was seen last. What is found first, or unpinned, is what is expected from then on. */
  meets(name: string, found: Entry | undefined): boolean {
    const mark = markOf(found);
    const known = this.#known.get(name);
    const isMet = !known || known.has(mark) || known.has(contentMark(found?.content));
    if (!isMet && this.#pinned) return false;
    this.#known.set(name, new Set([mark]));
    return true;
  }

  /** A write begins: until its answer, what was there before may be found as well. */
  attempt(name: string, content: Content | undefined): void {
    const known = this.#known.get(name);
    if (known) this.#known.set(name, new Set([...known, contentMark(content)]));
  }

  settle(name: string, entry: Entry | undefined): void {
    this.#known.set(name, new Set([markOf(entry)]));
  }
}

function markOf(entry: Entry | undefined): string {
  return entry ? `${entry.uid} ${contentMark(entry.content)}` : ABSENT;
}

/** Labels and the like may change: what counts is what it holds. */
function contentMark(content: Content | undefined): string {
  if (!content) return ABSENT;
  const hash = createHash('sha256');
  for (const key of Object.keys(content).sort()) hash.update(`${key}\n${content[key]}\n`);
  return hash.digest('hex');
}
