import { createHash } from 'node:crypto';
import { command } from '../../kernel/argv.ts';
import { Fault } from '../../kernel/fault.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { STATE_NAMESPACE } from '../../kernel/run-record.ts';

/** What may be found under a name: digests of contents, with the UID where it is known; `absent` for nothing. */
type Acceptable = ReadonlySet<string>;

const ABSENT = 'absent';
const NEVER: Acceptable = new Set();

/** What this process saw of each state object; while pinned, anything else is another's change. An unanswered write allows two. */
export class ExpectedContents {
  readonly #known = new Map<string, Acceptable>();
  /** What was seen first of each, while other runs could still write: a plan is made of several reads. */
  readonly #first = new Map<string, string>();
  /** Names that there were then. */
  #listed: ReadonlySet<string> | undefined;
  #pinned = false;

  pin(): void {
    if (this.#pinned) return;
    this.#pinned = true;
    for (const [name, known] of this.#known) if (!known.has(this.#first.get(name) ?? '')) this.#known.set(name, NEVER);
  }

  unpin(): void {
    this.#pinned = false;
    this.#first.clear();
    this.#listed = undefined;
  }

  /** False if it is pinned and differs from what was seen before. The first find, or an unpinned one, becomes what is expected. */
  meets(name: string, found: Entry | undefined): boolean {
    const mark = markOf(found);
    const known = this.#expected(name);
    const isMet = !known || known.has(mark) || known.has(contentMark(found?.content));
    if (!isMet && this.#pinned) return false;
    if (!this.#first.has(name)) this.#first.set(name, this.#isNew(name) ? ABSENT : mark);
    this.#known.set(name, new Set([mark]));
    return true;
  }

  /** All names that exist: one that is read later did not exist when the plan was made. */
  lists(names: readonly string[]): void {
    this.#listed ??= new Set(names);
  }

  /** A write begins: until its answer, what was there before may be found as well. */
  attempt(name: string, content: Content | undefined): void {
    const known = this.#expected(name);
    if (known) this.#known.set(name, new Set([...known, contentMark(content)]));
  }

  settle(name: string, entry: Entry | undefined): void {
    this.#first.set(name, markOf(entry));
    this.#known.set(name, new Set([markOf(entry)]));
  }

  #expected(name: string): Acceptable | undefined {
    return this.#known.get(name) ?? (this.#isNew(name) ? new Set([ABSENT]) : undefined);
  }

  #isNew(name: string): boolean {
    return this.#listed !== undefined && !this.#listed.has(name);
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

/** A Secret of that name that this program did not make. */
export function foreignSecret(where: string, name: string): Fault {
  return new Fault('failed', `${where} is not of this program: its type is another one`, [
    `look at it: ${command`kubectl -n ${STATE_NAMESPACE} describe secret ${name}`}`,
    'keep a copy of it under another name, delete it, then run the same command again',
  ]);
}

/** Somebody else wrote the state while this run held the lock. */
export function changedUnderUs(where: string, isGone: boolean): Fault {
  return new Fault('stale', `${where} was ${isGone ? 'deleted' : 'changed'} by somebody else during this run; nothing more was written`, [
    'find out which client writes it (audit log of the API server), and whether another run is active: kubectl netsvc-upgrade status',
    'then run the same command again: it plans again from what is there now',
  ]);
}

/** What one Secret holds: base64 by key. */
export type Content = Readonly<Record<string, string>>;

export interface Entry {
  readonly name: string;
  readonly content: Content;
  readonly uid: string;
  /** Replaces or removes exactly this. */
  readonly version: string;
  /** The Secret itself: what others noted on it stays when it is replaced. */
  readonly secret?: KubeObject;
}
