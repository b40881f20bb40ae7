import type { DefectCondition, ReleaseRange } from '../kernel/defect.ts';
import type { Profile } from '../kernel/profile.ts';
import { isOlder } from '../kernel/release.ts';
import { compareVersions } from '../kernel/version-numbers.ts';

/** What is wrong with a profile beyond its shape, by the path of the field. */
export interface ProfileProblem {
  readonly path: readonly string[];
  readonly message: string;
}

/** Ranges of releases and versions that end before they begin, and fixes that are older than the end of the defect. */
export function rangeProblems({ defects = [] }: Profile): readonly ProfileProblem[] {
  return defects.flatMap(({ releases, when, fixedIn, advice }, index) => {
    const path = ['defects', String(index)];
    const { before } = releases;
    const isEarly = fixedIn !== undefined && (before === undefined || isOlder(fixedIn, before));
    return [
      ...endsEarly(releases, [...path, 'releases']),
      ...when.flatMap((one, at) => conditionProblems(one, [...path, 'when', String(at)])),
      ...(isEarly ? [{ path: [...path, 'fixedIn'], message: `${fixedIn} is of the range that has the defect` }] : []),
      ...(fixedIn === undefined && advice === undefined ? [{ path, message: 'field fixedIn or advice is missing' }] : []),
    ];
  });
}

function conditionProblems(condition: DefectCondition, path: readonly string[]): readonly ProfileProblem[] {
  if (condition.type === 'upgradeFrom') return endsEarly(condition.releases, [...path, 'releases']);
  if (condition.type !== 'node') return [];
  const { startsWith, from, before } = condition;
  if (!startsWith && !from && !before) return [{ path, message: 'one of startsWith, from, before is missing' }];
  if (!from || !before || compareVersions(from, before) < 0) return [];
  return [{ path: [...path, 'before'], message: `the range ends before ${before}, and begins at ${from}` }];
}

function endsEarly({ from, before }: ReleaseRange, path: readonly string[]): readonly ProfileProblem[] {
  if (before === undefined || isOlder(from, before)) return [];
  return [{ path: [...path, 'before'], message: `the range ends before ${before}, and begins at ${from}` }];
}
