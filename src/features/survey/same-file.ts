import { ok, type Verdict } from '../../kernel/check.ts';
import type { RunRecord } from '../../kernel/run-record.ts';
import { failed, PROGRAM } from './verdicts.ts';

/** A run that was interrupted resumes with the very file that it began with: its sha256 is in the record (exit 7). */
export function sameFile(
  record: RunRecord | undefined,
  { file, sha256, url }: { readonly file: string; readonly sha256: string; readonly url: string },
): Verdict {
  const before = record?.finishedAt === undefined ? record?.digests[file] : undefined;
  if (before === undefined || before === sha256) return ok(`${file} sha256 ${sha256.slice(0, 12)}…`);
  return failed(
    `${url} is not the file that this run began with (sha256 ${sha256.slice(0, 12)}…, was ${before.slice(0, 12)}…)`,
    'Use the file that the run began with. Or continue with the new one: the next command accepts it.',
    { exit: 'stale', next: `${PROGRAM} run --accept NS-206` },
  );
}
