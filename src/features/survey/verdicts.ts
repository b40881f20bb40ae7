import { type Command, command } from '../../kernel/argv.ts';
import { type Check, type Evidence, notApplicable, ok, type Reading, read, Unread, type Verdict } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { firstOf } from '../../kernel/counted.ts';
import { type Detection, hasFullManifest, type Installation } from '../../kernel/installation.ts';
import { isRecord, type JsonMap } from '../../kernel/json.ts';
import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import type { RunRecord } from '../../kernel/run-record.ts';
import { text } from '../../kernel/step.ts';
import type { PreflightFacts, TargetFacts } from './facts.ts';

type Failure = Extract<Verdict, { status: 'failed' }>;

/** A check of the preflight, as a row of a feature's table. */
export type PreflightCheck = Check<PreflightFacts>;

/** What a finding tells beside its fact and its hint; the exact next command always. */
type Told = Omit<Failure, 'status' | 'because' | 'hint'> & { readonly next: Command };

export function failed(because: string, hint: Failure['hint'], more: Told): Verdict {
  return { status: 'failed', because, hint, ...more };
}

/** Fails if there is any offender; `tell` words the finding. */
export function failIfAny(
  offenders: readonly Evidence[],
  passed: string,
  tell: (names: string) => Omit<Failure, 'status' | 'evidence'> & { readonly next: Command },
): Verdict {
  if (offenders.length === 0) return ok(passed);
  return { status: 'failed', evidence: offenders, ...tell(listed(offenders.map((offender) => offender.text))) };
}

export function evidenceOf(object: KubeObject, detail?: string): Evidence {
  return { text: refText(refOf(object)), object: refOf(object), ...(detail ? { detail } : {}) };
}

/** `a, b, c and 4 more` */
export function listed(names: readonly string[], limit = FIRST): string {
  return firstOf(names, limit);
}

/** A detail in full, and with the first few of each list where that is shorter. */
export function detailOf(text: (limit?: number) => string): Detail {
  const [detail, brief] = [text(), text(FIRST)];
  return brief === detail ? { detail } : { detail, brief };
}

export type Detail = Pick<Evidence, 'brief'> & { readonly detail: string };

/** Things that a list on a screen names one by one. */
export const FIRST = 3;

/** An evaluation that is given what others found in the facts. */
type Judge<Found extends readonly unknown[] = [], Facts = PreflightFacts> = (
  ...given: [...Found, facts: Facts, context: Context]
) => Verdict;

/** Evaluates the installation; does not apply if none was recognised (NS-101 to NS-103 say why). */
export function withInstallation<Facts extends Pick<PreflightFacts, 'detection'> = PreflightFacts>(
  judge: Judge<[Installation], Facts>,
): Judge<[], Facts> {
  return (facts, context) => {
    const detection = read(facts.detection);
    if (detection.type !== 'found') return notApplicable('no installation was recognised');
    return judge(detection.installation, facts, context);
  };
}

/** The target; if unread, the check fails and only NS-601 says why, so one address is not reported ten times. */
export function readTarget({ target }: Pick<PreflightFacts, 'target'>): TargetFacts {
  if ('unread' in target)
    throw new Unread({
      unread: 'the target manifest was not read: see NS-601',
      hint: 'Not evaluated: depends on NS-601. Fix NS-601 first.',
      needs: 'NS-601',
    });
  return target.value;
}

/** Evaluates the target's documents. If they are unread, the check fails, except where NS-601 already says so. */
export function withTarget<Facts extends Pick<PreflightFacts, 'detection' | 'target'> = PreflightFacts>(
  judge: Judge<[TargetFacts, Installation], Facts>,
): Judge<[], Facts> {
  return withInstallation<Facts>((installation, facts, context) => {
    if ('unread' in facts.target && !hasFullManifest(installation)) return notApplicable('this path has no full manifest: see NS-601');
    return judge(readTarget(facts), installation, facts, context);
  });
}

/** Undefined where none was recognised, or what is there could not be read. */
export function installationIn(detection: Reading<Detection>): Installation | undefined {
  return 'value' in detection && detection.value.type === 'found' ? detection.value.installation : undefined;
}

/** Where an upgrade starts from; every stage that writes the target knows it. */
export interface SourceJudged {
  readonly installation: Installation;
  readonly record: RunRecord | undefined;
}

interface JudgedTwice extends Omit<Check<never>, 'judge'> {
  judge(installation: Installation, facts: Pick<PreflightFacts, 'record'>, context: Context): ReturnType<Check<never>['judge']>;
}

/** One evaluation for two occasions: the preflight's, and that of a stage right before it writes, which may be asked for alone. */
export function judgedTwice({ judge, ...row }: JudgedTwice): { atPreflight: PreflightCheck; beforeWrite: Check<SourceJudged> } {
  return {
    atPreflight: { ...row, judge: withInstallation<PreflightFacts>(judge) },
    beforeWrite: { ...row, judge: ({ installation, record }, context) => judge(installation, { record: { value: record } }, context) },
  };
}

/** A run that was interrupted resumes with the very file that it began with: its sha256 is in the record (exit 7). */
export function sameFile(
  record: RunRecord | undefined,
  { file, sha256, url }: { readonly file: string; readonly sha256: string; readonly url: string },
): Verdict {
  const before = record?.finishedAt === undefined ? record?.digests[file] : undefined;
  if (before === undefined || before === sha256) return ok(`${file} sha256 ${sha256.slice(0, 12)}…`);
  return failed(
    `${url} is not the file that this run began with (sha256 ${sha256.slice(0, 12)}…, was ${before.slice(0, 12)}…)`,
    text`Use the file that the run began with. Or, if the new one is right, continue with it: ${command`kubectl netsvc-upgrade run --accept NS-206`}`,
    { exit: 'stale', next: command`kubectl netsvc-upgrade status` },
  );
}

/** Objects of one kind of the service; none if the cluster has no such kind. Unread objects make the check fail. */
export function objectsOf(facts: Pick<PreflightFacts, 'resources'>, plural: string): readonly KubeObject[] {
  return read(facts.resources)
    .filter((list) => list.kind.plural === plural)
    .flatMap((list) => read(list.objects));
}

/** Evaluates stored resources; in key-value mode they are not in the API and only the service's own CLI shows them (§4.5). */
export function withResources(judge: Judge<[Installation]>): Judge {
  return withInstallation((installation, facts, context) => {
    if (installation.datastore === 'api') return judge(installation, facts, context);
    return notApplicable(`resources are in the key-value store, not in the API: look with ${context.profile.cli.program} get`);
  });
}

export function specOf(object: KubeObject | undefined): JsonMap {
  return isRecord(object?.spec) ? object.spec : {};
}

/** A table of checks; what most of its rows share is said once, and a row may say it otherwise. */
export function table<Facts, Common extends Partial<Pick<Check<Facts>, 'category' | 'severity' | 'ref'>>>(
  common: Common,
  rows: readonly NoInfer<Omit<Check<Facts>, keyof Common> & Partial<Check<Facts>>>[],
): readonly Check<Facts>[] {
  return rows.map((row) => ({ ...common, ...row }) as Check<Facts>);
}
