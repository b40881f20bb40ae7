import type { Profile, TestedLine } from '../../kernel/profile.ts';
import { lineOf } from '../../kernel/release.ts';

/** `35` of `1.35`, `35` and `35+`; NaN for what is none. */
export function minorNumber(version: string): number {
  return Number.parseInt(version.split('.')[1] ?? version, 10);
}

/** What is known of the line of a release; undefined for one that the profile does not know. */
export function testedLine({ testedLines }: Pick<Profile, 'testedLines'>, release: string): TestedLine | undefined {
  const line = lineOf(release);
  return testedLines.find((one) => one.line === line);
}

export function isTested({ kubernetes: [first, last] }: TestedLine, minor: number): boolean {
  return minorNumber(first) <= minor && minor <= minorNumber(last);
}

/** `1.34, 1.35, 1.36` */
export function testedText({ kubernetes: [first, last] }: TestedLine): string {
  const [from, to] = [minorNumber(first), minorNumber(last)];
  return Array.from({ length: to - from + 1 }, (_, index) => `1.${from + index}`).join(', ');
}
