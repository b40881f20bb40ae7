import assert from 'node:assert/strict';
import type { Defect, DefectCondition, ReleaseRange } from '../../src/kernel/defect.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import { compareVersions, isOlder, parseRelease } from '../../src/kernel/release.ts';
import { calico } from '../../src/profiles/calico.ts';
import { shippedProfiles } from '../../src/profiles/index.ts';

/** What the compiler cannot see: a row that would never hold, would always hold, or names a fix that is none. */
function rangeFaults({ from, before, backports = [] }: ReleaseRange): readonly string[] {
  const unread = [from, ...(before === undefined ? [] : [before]), ...backports].filter((tag) => !parseRelease(tag));
  const beside = backports.filter((one) => !isOlder(from, one) || (before !== undefined && !isOlder(one, before)));
  const isEmpty = before !== undefined && !isOlder(from, before);
  return [...unread, ...beside.map((one) => `${one} is not within the range`), ...(isEmpty ? [`${from} to ${before} is empty`] : [])];
}

function nodeFaults({ field, startsWith, from, before }: Extract<DefectCondition, { type: 'node' }>): readonly string[] {
  if (field === 'architecture' && (from || before)) return ['an architecture has no version'];
  if (!startsWith && !from && !before) return ['every node fits'];
  return from && before && compareVersions(from, before) >= 0 ? [`${from} to ${before} is empty`] : [];
}

function conditionFaults(condition: DefectCondition, { cli, removedKinds, clusterInformation }: Profile): readonly string[] {
  if (condition.type === 'upgradeFrom') return rangeFaults(condition.releases);
  if (condition.type === 'node') return nodeFaults(condition);
  if (condition.type === 'hostProgram') return condition.images.filter((part) => part === '').map(() => 'every image has an empty text');
  if (condition.type !== 'resource') return [];
  const kinds = [...(cli.kinds?.cluster ?? []), ...(cli.kinds?.namespaced ?? []), ...removedKinds.map(({ plural }) => plural)];
  return condition.plurals.filter((one) => ![...kinds, clusterInformation.plural].includes(one)).map((one) => `${one} is not read`);
}

function faultsOf({ id, releases, when, fixedIn, advice }: Defect, profile: Profile): readonly string[] {
  const isEarly = fixedIn !== undefined && (!releases.before || isOlder(fixedIn, releases.before));
  return [
    ...rangeFaults(releases),
    ...when.flatMap((one) => conditionFaults(one, profile)),
    ...(isEarly ? [`${fixedIn} is of the range that has the defect`] : []),
    ...(fixedIn === undefined && advice === undefined ? ['neither a fix nor advice'] : []),
  ].map((fault) => `${id}: ${fault}`);
}

describe('the defects of releases in the shipped profiles', () => {
  for (const profile of shippedProfiles)
    it(`${profile.name}: each can hold, need not hold, and says what helps`, () => {
      const { defects = [], platforms, addOns } = profile;
      assert.deepEqual(
        defects.flatMap((defect) => faultsOf(defect, profile)),
        [],
      );
      for (const list of [defects, platforms, addOns]) assert.equal(new Set(list.map(({ id }) => id)).size, list.length);
    });

  const sample: Defect = {
    ...{ id: 'a', of: 'target', severity: 'error', symptom: 's', happens: 'h', advice: 'a', sources: ['a/b#1'], when: [] },
    releases: { from: 'v3.32.0' },
  };
  const faulty: readonly (readonly [string, Partial<Defect>])[] = [
    ['v3.32.1 to v3.32.0 is empty', { releases: { from: 'v3.32.1', before: 'v3.32.0' } }],
    ['v3.29.7 is not within the range', { releases: { from: 'v3.30.0', backports: ['v3.29.7'] } }],
    ['v3.32', { releases: { from: 'v3.32' } }],
    ['v3.32.1 is of the range that has the defect', { releases: { from: 'v3.32.0', before: 'v3.32.2' }, fixedIn: 'v3.32.1' }],
    ['5.15 to 5.9 is empty', { when: [{ type: 'node', field: 'kernelVersion', from: '5.15', before: '5.9' }] }],
    ['an architecture has no version', { when: [{ type: 'node', field: 'architecture', before: '9' }] }],
    ['every node fits', { when: [{ type: 'node', field: 'osImage' }] }],
    ['every image has an empty text', { when: [{ type: 'hostProgram', images: [''] }] }],
    ['ipools is not read', { when: [{ type: 'resource', fields: ['cidr'], plurals: ['ippools', 'ipools'] }] }],
  ];
  for (const [fault, change] of faulty)
    it(`are not such that ${fault}`, () => assert.deepEqual(faultsOf({ ...sample, ...change }, calico), [`a: ${fault}`]));
});
