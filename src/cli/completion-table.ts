import type { PlainFlags } from './plain-flags.ts';

/** Names that are looked up when the shell asks: in the kubeconfig, or at the API server. */
export type LiveNames = 'contexts' | 'clusters' | 'users' | 'namespaces' | 'nodes';

/** What completion knows of a flag. */
export interface FlagEntry {
  readonly name: string;
  readonly char?: string;
  readonly about: string;
  readonly takesValue: boolean;
  readonly values?: readonly string[];
  /** The value is a file or folder, or may be one: the shell completes it. */
  readonly file?: boolean;
  readonly repeatable?: boolean;
  readonly live?: LiveNames;
  /** Values after which `=SUBJECT` may stand, with what the subjects are. */
  readonly subjects?: Readonly<Record<string, LiveNames>>;
}

export interface CommandEntry {
  readonly about: string;
  readonly flags: readonly FlagEntry[];
  /** Values of the first argument. */
  readonly values?: readonly string[];
}

/**
 * Made at build time, so that help, version and completion need nothing but this (docs/internals/decisions/start-up.md). What is large has files
 * of its own, each read only by what needs it: reading JSON is most of what `--help` takes beside Node's start.
 */
export interface FastPathTable {
  readonly version: string;
  /** Every command, in the order of the help. */
  readonly names: readonly string[];
  /** Commands that run without oclif if their flags are plain. */
  readonly plain: Readonly<Record<string, PlainFlags>>;
  /** What values mean that say little by themselves: check ids. */
  readonly titles?: Readonly<Record<string, string>>;
  /** A file of its own, for completion. */
  readonly commands: Readonly<Record<string, CommandEntry>>;
  /** The page of a command, or of the root (''), by displayed name: each page is a file of its own. */
  help(page: string): Readonly<Record<string, string>> | undefined;
}
