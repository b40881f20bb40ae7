import type { Finding } from './check.ts';

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
