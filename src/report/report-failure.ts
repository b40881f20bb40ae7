/** A command that ended before it could say anything about the cluster. */
export interface ReportFailure {
  readonly command: string;
  /** `failed (exit 1)`. */
  readonly exit: string;
  readonly message: string;
  readonly suggestions: readonly string[];
}
