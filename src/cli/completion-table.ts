/** What completion knows of a flag. */
export interface FlagEntry {
  readonly name: string;
  readonly char?: string;
  readonly about: string;
  readonly takesValue: boolean;
  readonly values?: readonly string[];
  /** The value is a file or folder: the shell completes it. */
  readonly file?: boolean;
  readonly repeatable?: boolean;
}

export interface CommandEntry {
  readonly about: string;
  readonly flags: readonly FlagEntry[];
  /** Values of the first argument. */
  readonly values?: readonly string[];
}

/** Made at build time, so that help, version and completion need nothing but this (docs/decisions/start-up.md). */
export interface FastPathTable {
  readonly version: string;
  readonly commands: Readonly<Record<string, CommandEntry>>;
  /** Displayed name → page → text; the page of the root is ''. */
  readonly help: Readonly<Record<string, Readonly<Record<string, string>>>>;
}
