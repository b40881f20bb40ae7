import { join } from 'node:path';

/** What `mocha --require test/support/record-examples.ts` writes, and the pages of checks show. */
export const EXAMPLES = join(import.meta.dirname, '..', 'fixtures', 'check-examples.json');

/** What the tests provoke of a check. */
export interface Seen {
  /** As it is shown; absent where no test made it fail. */
  readonly example?: Example;
  /** Of its findings. */
  readonly severities: readonly string[];
  /** Install paths on which it said something. */
  readonly paths: readonly string[];
}

/** A finding as it is shown: what `report/findings.ts` needs of it. */
export interface Example {
  /** `ok`: the check only informs. */
  readonly outcome: 'error' | 'warning' | 'ok';
  readonly aside?: 'advice';
  readonly message: string;
  readonly hint: string;
  readonly evidence: readonly { readonly text: string; readonly detail?: string }[];
  readonly next?: string;
}
