import type { KubeObject } from '../../kernel/object.ts';

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
