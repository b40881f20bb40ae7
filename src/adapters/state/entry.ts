import { createHash } from 'node:crypto';
import { command } from '../../kernel/argv.ts';
import { Fault } from '../../kernel/fault.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { STATE_NAMESPACE } from '../../kernel/run-record.ts';
import { AGAIN, look, text, thenAgainAs } from '../../kernel/step.ts';

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

/** Labels and the like may change: what counts is what it holds. Undefined is a mark of its own: nothing is there. */
export function markOf(content: Content | undefined): string {
  if (!content) return 'absent';
  const hash = createHash('sha256');
  for (const key of Object.keys(content).sort()) hash.update(`${key}\n${content[key]}\n`);
  return hash.digest('hex');
}

/** A Secret of that name that this program did not make. */
export function foreignSecret(where: string, name: string): Fault {
  return new Fault('failed', `${where} is not of this program: its type is another one`, [
    look(text`look at it: ${command`kubectl -n ${STATE_NAMESPACE} describe secret ${name}`}`),
    text`keep a copy of it under another name, delete it, then ${AGAIN}`,
  ]);
}

/** Somebody else wrote the state that this run is about to write. */
export function changedUnderUs(where: string, isGone: boolean): Fault {
  return new Fault('stale', `${where} was ${isGone ? 'deleted' : 'changed'} by somebody else during this run; it was not overwritten`, [
    look(
      text`find out whether another run is active: ${command`kubectl netsvc-upgrade status`}; the audit log of the API server names the client that wrote it`,
    ),
    thenAgainAs('it plans again from what is there now'),
  ]);
}
