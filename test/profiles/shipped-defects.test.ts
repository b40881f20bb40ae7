import assert from 'node:assert/strict';
import type { Defect, DefectCondition, DefectLine, DefectText, ReleaseRange } from '../../src/kernel/defect.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import { compareVersions, isOlder, parseRelease, sameMinor } from '../../src/kernel/release.ts';
import { calico } from '../../src/profiles/calico.ts';
import { shippedProfiles } from '../../src/profiles/index.ts';

/** What the compiler cannot see: a row that would never hold, would always hold, or names a fix that is none. */
function rangeFaults({ from, before }: ReleaseRange): readonly string[] {
  const unread = [from, ...(before === undefined ? [] : [before])].filter((tag) => !parseRelease(tag));
  return [...unread, ...(before !== undefined && !isOlder(from, before) ? [`${from} to ${before} is empty`] : [])];
}

/** Each line once, oldest first, no line left out, and a day for what is open. */
function lineFaults(lines: readonly DefectLine[]): readonly string[] {
  const unread = lines.flatMap((line) => [line.from, ...('fixedIn' in line ? [line.fixedIn] : [])]).filter((tag) => !parseRelease(tag));
  if (unread.length > 0) return unread;
  const ends = lines.flatMap((line, index) => {
    if (!('fixedIn' in line)) return isDay(line.openOn) ? [] : [`${line.from} is open, and no day says when that was looked up`];
    if (!sameMinor(line.from, line.fixedIn) || isOlder(line.fixedIn, line.from))
      return [`${line.fixedIn} is not of the line of ${line.from}`];
    return line.from === line.fixedIn && index !== lines.length - 1 ? [`${line.from} to ${line.fixedIn} is empty`] : [];
  });
  const gaps = lines.slice(1).filter((line, index) => minorNumber(line) !== minorNumber(lines[index]) + 1);
  return [...ends, ...gaps.map(({ from }) => `${from} does not follow the line before it`)];
}

function minorNumber(line: DefectLine | undefined): number {
  return parseRelease(line?.from ?? '')?.minor ?? Number.NaN;
}

function isDay(text: unknown): boolean {
  return typeof text === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(text) && Date.parse(text) > 0;
}

function nodeFaults({ field, startsWith, matches, unlike, from, before }: Extract<DefectCondition, { type: 'node' }>): readonly string[] {
  if (field === 'architecture' && (from || before)) return ['an architecture has no version'];
  if (!startsWith && !matches && !unlike && !from && !before) return ['every node fits'];
  return from && before && compareVersions(from, before) >= 0 ? [`${from} to ${before} is empty`] : [];
}

function conditionFaults(condition: DefectCondition, { cli, removedKinds, clusterInformation }: Profile): readonly string[] {
  if (condition.type === 'upgradeFrom') return condition.releases.flatMap(rangeFaults);
  if (condition.type === 'node') return nodeFaults(condition);
  if (condition.type === 'hostProgram') return condition.images.filter((part) => part === '').map(() => 'every image has an empty text');
  if (condition.type !== 'resource') return [];
  const kinds = [...(cli.kinds?.cluster ?? []), ...(cli.kinds?.namespaced ?? []), ...removedKinds.map(({ plural }) => plural)];
  return condition.plurals.filter((one) => ![...kinds, clusterInformation.plural].includes(one)).map((one) => `${one} is not read`);
}

function faultsOf({ id, lines, when, advice }: Defect, profile: Profile): readonly string[] {
  const isFixed = lines.some((line) => 'fixedIn' in line);
  const faults = [...lineFaults(lines), ...whenFaults(when, profile), ...(isFixed || advice ? [] : ['neither a fix nor advice'])];
  return faults.map((fault) => `${id}: ${fault}`);
}

function whenFaults(when: DefectText['when'], profile: Profile): readonly string[] {
  return when.flatMap((one) => conditionFaults(one, profile));
}

describe('the defects of releases in the shipped profiles', () => {
  for (const profile of shippedProfiles)
    it(`${profile.name}: each can hold, need not hold, and says what helps`, () => {
      const { defects = [], changes = [], platforms, addOns } = profile;
      assert.deepEqual(
        defects.flatMap((defect) => faultsOf(defect, profile)),
        [],
      );
      assert.deepEqual(
        changes.flatMap(({ releases, when }) => [...rangeFaults(releases), ...whenFaults(when, profile)]),
        [],
      );
      for (const list of [[...defects, ...changes], platforms, addOns]) assert.equal(new Set(list.map(({ id }) => id)).size, list.length);
    });

  const sample: Defect = {
    ...{ id: 'a', of: 'target', severity: 'error', symptom: 's', happens: 'h', advice: 'a', sources: ['a/b#1'], when: [] },
    lines: [{ from: 'v3.32.0', openOn: '2026-08-22' }],
  };
  const open = 'v3.32.0 is open, and no day says when that was looked up';
  const faulty: readonly (readonly [string, Partial<Defect>])[] = [
    ['v3.32.1 is not of the line of v3.32.2', { lines: [{ from: 'v3.32.2', fixedIn: 'v3.32.1' }] }],
    ['v3.32.1 is not of the line of v3.31.0', { lines: [{ from: 'v3.31.0', fixedIn: 'v3.32.1' }] }],
    ['v3.32.0 does not follow the line before it', { lines: [{ from: 'v3.30.0', fixedIn: 'v3.30.1' }, ...sample.lines] }],
    ['v3.32', { lines: [{ from: 'v3.32', fixedIn: 'v3.32.1' }] }],
    [open, { lines: [{ from: 'v3.32.0' } as DefectLine] }],
    [open, { lines: [{ from: 'v3.32.0', openOn: 'soon' }] }],
    ['5.15 to 5.9 is empty', { when: [{ type: 'node', field: 'kernelVersion', from: '5.15', before: '5.9' }] }],
    ['an architecture has no version', { when: [{ type: 'node', field: 'architecture', before: '9' }] }],
    ['every node fits', { when: [{ type: 'node', field: 'osImage' }] }],
    ['every image has an empty text', { when: [{ type: 'hostProgram', images: [''] }] }],
    ['ipools is not read', { when: [{ type: 'resource', fields: ['cidr'], plurals: ['ippools', 'ipools'] }] }],
  ];
  for (const [fault, change] of faulty)
    it(`are not such that ${fault}`, () => assert.deepEqual(faultsOf({ ...sample, ...change }, calico), [`a: ${fault}`]));
});
