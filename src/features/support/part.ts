import { isAnswer } from '../../kernel/interruption.ts';
import { ApiFailure, type ClusterReader } from '../../kernel/ports.ts';

/** One file of a bundle for support, or why it is not there. */
export interface SupportPart {
  /** Inside the bundle. Of a document the suffix says the form. */
  readonly path: string;
  /** In a few words, for the index. */
  readonly what: string;
  /** A text, or a document that is written as YAML or JSON. */
  readonly content?: string | object;
  /** Why it could not be read. */
  readonly unread?: string;
}

export interface Asking {
  readonly cluster: Pick<ClusterReader, 'list' | 'raw'>;
}

/** What cannot be read is listed and keeps nothing else out; Ctrl-C ends everything. */
export async function partOf(path: string, what: string, read: () => Promise<string | object>): Promise<SupportPart> {
  try {
    return { path, what, content: await read() };
  } catch (thrown) {
    return { path, what, unread: reasonOf(thrown) };
  }
}

/** Throws on what says nothing about the cluster: an interruption, a defect. */
export function reasonOf(thrown: unknown): string {
  if (thrown instanceof ApiFailure) {
    if (thrown.status === 403) return `this account may not read it: ${thrown.message}`;
    return thrown.status === 0 ? `no answer: ${thrown.message}` : `${thrown.message} (${thrown.status})`;
  }
  if (isAnswer(thrown)) return thrown.message;
  throw thrown;
}

/** A name as a part of a path: names come from the server, and the path of a file must not lead elsewhere. */
export function pathPart(name: string): string {
  return name
    .replace(/[^A-Za-z0-9._-]/g, '_')
    .replace(/\.{2,}/g, '_')
    .slice(0, 80);
}
