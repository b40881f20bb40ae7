import { type Check, type Evidence, type Finding, Unread, type Verdict } from './check.ts';
import { type Command, command } from './command.ts';
import type { Acceptance, Context, Options } from './context.ts';
import { firstOf } from './counted.ts';
import type { Severity } from './defect.ts';
import { fix, nextStepOf, type Said, type Step, type Suggestion, stepOf, Text, text } from './step.ts';
import { oneLine } from './visible.ts';

/** Runs every check over the facts. A check that cannot read what it needs fails; it never passes. */
export function judgeAll<Facts>(checks: readonly Check<Facts>[], facts: Facts, context: Context): readonly Finding[] {
  const judged = checks.map((check) => {
    const verdict = verdictOf(check, facts, context);
    return { needs: 'needs' in verdict ? verdict.needs : undefined, finding: findingOf(check, verdict, context.options.accept) };
  });
  const errors = new Set(judged.filter(({ finding }) => finding.outcome === 'error').map(({ finding }) => finding.id));
  const folded = Map.groupBy(judged, ({ needs }) => (needs !== undefined && errors.has(needs) ? needs : undefined));
  return judged.map(({ needs, finding }) => {
    if (needs !== undefined && errors.has(needs)) return notEvaluated(finding, needs);
    const neededBy = folded.get(finding.id)?.map((one) => one.finding.id);
    return neededBy ? { ...finding, neededBy } : finding;
  });
}

/** One cause is told once: by the open error that says why this was not evaluated. */
function notEvaluated({ id, title, category, ref }: Finding, needed: string): Finding {
  return {
    id,
    title,
    category,
    ref,
    outcome: 'not-applicable',
    aside: 'not-evaluated',
    message: `not evaluated: needs ${needed}`,
    evidence: [],
  };
}

type Unevaluated = Extract<Verdict, { status: 'failed' }> & { readonly needs?: string };

function verdictOf<Facts>(check: Check<Facts>, facts: Facts, context: Context): Verdict | Unevaluated {
  try {
    return check.judge(facts, context);
  } catch (thrown) {
    if (!(thrown instanceof Unread)) throw thrown;
    const { unread, leftOut, hint, needs } = thrown.reading;
    if (leftOut) return { status: 'not-applicable', because: `left out by --read-only: ${unread}`, aside: 'left-out' };
    return {
      status: 'failed',
      because: `could not be checked: ${unread}`,
      hint: hint ?? 'Make it readable (permissions, reachable API), or accept the risk by name.',
      next: command`kubectl netsvc-upgrade explain ${check.id}`,
      severity: check.severity,
      ...(needs === undefined ? {} : { needs }),
    };
  }
}

function findingOf<Facts>(check: Check<Facts>, verdict: Verdict, accepted: readonly Acceptance[]): Finding {
  const base = { id: check.id, title: check.title, category: check.category, ref: check.ref };
  if (verdict.status === 'ok') {
    const aside = verdict.isAdvice ? { aside: 'advice' as const } : {};
    return { ...base, outcome: 'ok', ...aside, message: verdict.detail ?? check.title, evidence: [] };
  }
  if (verdict.status === 'not-applicable') {
    const { because: message, status: outcome, ...aside } = verdict;
    return { ...base, outcome, ...aside, message, evidence: [] };
  }
  const evidence = verdict.evidence ?? [];
  const severity = verdict.severity ?? check.severity;
  const told = (first: readonly string[]) =>
    advised([...first, ...saidIn(verdict.hint), ...(verdict.fix ? [fix(text`${verdict.fix}`)] : [])], verdict.next);
  const rest = {
    message: verdict.because,
    ...told([]),
    evidence,
    ...(verdict.exit ? { exit: verdict.exit } : {}),
    ...(verdict.byName ? { byName: true } : {}),
    ...(verdict.leads ? { leads: verdict.leads } : {}),
  };
  if (verdict.expected) return { ...base, ...rest, outcome: 'expected' };
  if (verdict.final) return { ...base, ...rest, ...told(finalText(check.id, accepted)), outcome: severity };
  if (isFindingAccepted(check.id, evidence, accepted, verdict.eachByName === true))
    return { ...base, ...rest, outcome: 'accepted', was: severity };
  const stray = verdict.leavesOutAccepted ? [] : strayText(check.id, evidence, accepted);
  return { ...base, ...rest, ...told(stray), outcome: severity };
}

const saidIn = (hint: Said | readonly Said[]): readonly Said[] => (hint instanceof Text || typeof hint === 'string' ? [hint] : hint);

/** Hint and next command of a finding: in words, and as data. */
export function advised(hint: readonly Suggestion[], next: Command | undefined): Pick<Finding, 'hint' | 'next' | 'steps'> {
  const steps = hint.map(stepOf);
  const last = next === undefined ? [] : [nextStepOf(next)];
  return { hint: steps.map(({ plain }) => plain).join('\n'), ...(next === undefined ? {} : { next }), steps: [...steps, ...last] };
}

/** The hint's part of its steps: the last one is the next command, if there is one. */
export function hintOf({ steps = [], next }: Pick<Finding, 'next' | 'steps'>): readonly Step[] {
  return next === undefined ? steps : steps.slice(0, -1);
}

/** Says to somebody who accepted it all the same that this does not help. */
function finalText(id: string, accepted: readonly Acceptance[]): readonly string[] {
  return accepted.some(({ check }) => check === id) ? [`Leave --accept ${id} out: nobody can accept this.`] : [];
}

/** Accepted whole, unless it must be by name; or every subject of the finding accepted by name. */
function isFindingAccepted(id: string, evidence: readonly Evidence[], accepted: readonly Acceptance[], eachByName: boolean): boolean {
  const mine = accepted.filter((acceptance) => acceptance.check === id);
  if (!eachByName && mine.some((acceptance) => acceptance.subject === undefined)) return true;
  return evidence.length > 0 && evidence.every((item) => mine.some((acceptance) => acceptance.subject === item.text));
}

/** Subjects that a hint names one by one. */
const NAMED = 5;

/** Says of names after `--accept ID=` that the finding does not have them: a typo would waive nothing, and say nothing. */
function strayText(id: string, evidence: readonly Evidence[], accepted: readonly Acceptance[]): readonly string[] {
  const named = accepted.flatMap(({ check, subject }) => (check === id && subject !== undefined ? [subject] : []));
  const subjects = [...new Set(evidence.map(({ text }) => text))];
  const stray = [...new Set(named)].filter((subject) => !subjects.includes(subject));
  if (stray.length === 0) return [];
  const open = subjects.filter((subject) => !named.includes(subject));
  const which = `which ${stray.length === 1 ? 'is' : 'are'} none of its subjects here; still open: ${firstOf(open, NAMED)}`;
  return [oneLine(`${id} was accepted for ${firstOf(stray, NAMED)}, ${open.length === 0 ? 'but it has no subjects here' : which}`)];
}

/** True if `--accept` names the check alone, and so everything that it finds. */
export function acceptsWhole({ accept }: Pick<Options, 'accept'>, check: string): boolean {
  return accept.some((one) => one.check === check && one.subject === undefined);
}

/** True if `--accept` names the check alone or with this subject. */
export function acceptsSubject({ accept }: Pick<Options, 'accept'>, check: string, subject: string): boolean {
  return accept.some((one) => one.check === check && (one.subject === undefined || one.subject === subject));
}

export interface Tally {
  readonly ok: number;
  readonly warning: number;
  readonly error: number;
  readonly accepted: number;
}

export function tally(findings: readonly Finding[]): Tally {
  const count = (outcome: Finding['outcome']) => findings.filter((finding) => finding.outcome === outcome).length;
  return {
    ok: count('ok') + count('expected') + count('cured'),
    warning: count('warning'),
    error: count('error'),
    accepted: count('accepted'),
  };
}

/** The worst that the findings ask for under `--fail-on`. */
export function blocks(findings: readonly Finding[], failOn: Severity): 'blocked' | 'warned' | undefined {
  if (findings.some((finding) => finding.outcome === 'error')) return 'blocked';
  return failOn === 'warning' && findings.some((finding) => finding.outcome === 'warning') ? 'warned' : undefined;
}

/** Which answer counts if several stages evaluated one check: the one further right, so that an open finding stays open. */
const WEIGHT: readonly (readonly Finding['outcome'][])[] = [
  ['not-applicable'],
  ['ok', 'expected'],
  ['cured'],
  ['accepted'],
  ['warning'],
  ['error'],
];
/** From here on a finding is about its subjects, and stands for no others. */
const ABOUT_SUBJECTS = weightOf('accepted');

/** One finding per check and what it is about, in the order given: the worst that is open, else the last. */
export function oneFindingEach(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter(
    (finding, at) => !findings.some((other, index) => index !== at && other.id === finding.id && standsFor(other, finding, index > at)),
  );
}

/** True if one finding says all that the other does; of two that say the same the later one stands. */
function standsFor(one: Finding, other: Finding, isLater: boolean): boolean {
  const more = weightOf(one.outcome) - weightOf(other.outcome);
  if (more < 0 || !covers(one, other)) return false;
  return more > 0 || isLater || !covers(other, one);
}

function covers(one: Finding, other: Finding): boolean {
  if (weightOf(other.outcome) < ABOUT_SUBJECTS) return true;
  const subjects = new Set(one.evidence.map(({ text }) => text));
  return other.evidence.every(({ text }) => subjects.has(text));
}

function weightOf(outcome: Finding['outcome']): number {
  return WEIGHT.findIndex((outcomes) => outcomes.includes(outcome));
}
