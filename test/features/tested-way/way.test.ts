import assert from 'node:assert/strict';
import digests from '../../../src/adapters/digests/calico.json' with { type: 'json' };
import { findWay, minorNumber, stepText, type Way, type WayStep } from '../../../src/features/tested-way/index.ts';
import { isOlder, lineOf } from '../../../src/kernel/release.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const lines = calico.testedLines;
const newest = minorNumber(lines.at(-1)?.kubernetes[1] ?? '');
const minors = Array.from({ length: newest - 15 }, (_, index) => 16 + index);

const tested = (release: string, minor: number) =>
  lines.some(
    ({ line, kubernetes: [first, last] }) => line === lineOf(release) && minorNumber(first) <= minor && minor <= minorNumber(last),
  );

const stepsOf = (way: Way | undefined): readonly WayStep[] | undefined => (way && 'steps' in way ? way.steps : undefined);

/** Fewest upgrades from each state, counted backwards from the goal: another rule than the one under test. */
function fewest(): ReadonlyMap<string, number> {
  const known = new Map<string, number>();
  const goal = lines.length - 1;
  const key = (line: number, minor: number) => `${line}/${minor}`;
  const isGood = (line: number, minor: number) => tested(lines[line]?.newest ?? '', minor);
  for (let round = 0; round < 60; round += 1)
    for (const minor of minors)
      for (let line = 0; line <= goal; line += 1) {
        const onward = [key(line, minor + 1), ...lines.map((_, other) => key(other, minor)).slice(line + 1)];
        const entered = onward.filter((one) => isGood(Number(one.split('/')[0]), Number(one.split('/')[1])));
        const here =
          line === goal && isGood(line, minor) ? 0 : 1 + Math.min(...entered.map((one) => known.get(one) ?? Number.POSITIVE_INFINITY));
        if (Number.isFinite(here)) known.set(key(line, minor), here);
      }
  return known;
}

describe('the tested way', () => {
  it('has an answer for every release and Kubernetes: the shortest, or why there is none', () => {
    const best = fewest();
    for (const [index, { line, newest }] of lines.entries())
      for (const minor of minors) {
        const way = findWay(calico, { release: newest, minor }, CALICO_TARGET);
        assert.ok(way, line);
        assert.equal(stepsOf(way)?.length, best.get(`${index}/${minor}`), `${line} on 1.${minor}`);
        assert.equal('because' in way, !best.has(`${index}/${minor}`), `${line} on 1.${minor}`);
      }
  });

  it('enters only what upstream tested, one upgrade after another', () => {
    for (const { newest } of lines)
      for (const minor of minors) {
        let at = { release: newest, minor };
        for (const { what, from, to } of stepsOf(findWay(calico, { release: newest, minor }, CALICO_TARGET)) ?? []) {
          assert.deepEqual(from, at);
          assert.ok(tested(to.release, to.minor), `${to.release} on 1.${to.minor}`);
          if (what === 'service') assert.ok(to.minor === from.minor && isOlder(from.release, to.release));
          else assert.ok(to.minor === from.minor + 1 && to.release === from.release);
          at = to;
        }
      }
  });

  it('says which state it begins with, tested or not', () => {
    assert.equal(findWay(calico, { release: 'v3.27.0', minor: 28 }, CALICO_TARGET)?.isStartTested, true);
    assert.equal(findWay(calico, { release: 'v3.27.0', minor: 31 }, CALICO_TARGET)?.isStartTested, false);
  });

  it('goes service, Kubernetes, service, as NS-002 says', () => {
    const steps = stepsOf(findWay(calico, { release: 'v3.29.1', minor: 32 }, CALICO_TARGET)) ?? [];
    assert.deepEqual(steps.map(stepText), [
      'service v3.29.1 → v3.31.7',
      'Kubernetes 1.32 → 1.33',
      'Kubernetes 1.33 → 1.34',
      `service v3.31.7 → ${CALICO_TARGET}`,
    ]);
  });

  it('ends with the newest release of the line itself', () => {
    const steps = stepsOf(findWay(calico, { release: 'v3.32.0', minor: 34 }, CALICO_TARGET)) ?? [];
    assert.deepEqual(steps.map(stepText), [`service v3.32.0 → ${CALICO_TARGET}`]);
    assert.deepEqual(stepsOf(findWay(calico, { release: CALICO_TARGET, minor: 35 }, CALICO_TARGET)), []);
    const ofLine = stepsOf(findWay(calico, { release: 'v3.32', minor: 34 }, CALICO_TARGET)) ?? [];
    assert.deepEqual(ofLine.map(stepText), [`service v3.32 → ${CALICO_TARGET}`]);
  });

  it('leads to no older release of the same line', () => {
    const back = findWay(calico, { release: 'v3.32.4', minor: 35 }, 'v3.32.1');
    assert.equal(back && 'because' in back ? back.because : '', 'v3.32.4 is newer than v3.32.1: no upgrade leads back');
  });

  it('leads to no older line, and knows no other', () => {
    const back = findWay(calico, { release: 'v3.31.2', minor: 34 }, 'v3.30.7');
    assert.match(back && 'because' in back ? back.because : '', /no upgrade leads back/);
    assert.equal(findWay(calico, { release: 'v3.14.0', minor: 16 }, CALICO_TARGET), undefined);
    assert.equal(findWay(calico, { release: 'v3.31.2', minor: 34 }, 'v3.99.0'), undefined);
  });
});

describe('the lines that upstream tested', () => {
  it('have the sums of the releases that this program says it goes to', () => {
    for (const { newest, hasSums } of lines) assert.equal(digests.releases.includes(newest), hasSums, newest);
  });

  it('name the newest release that is known of each line', () => {
    for (const { line, newest } of lines) {
      const known = digests.releases.filter((release) => lineOf(release) === line);
      for (const release of known) assert.ok(!isOlder(newest, release), `${newest} is older than ${release}`);
    }
  });

  it('hold every minor from the oldest source to the default release', () => {
    assert.deepEqual(
      lines.map(({ line }) => line),
      lines.map((_, index) => `v3.${15 + index}`),
    );
    assert.equal(lines.at(-1)?.line, lineOf(calico.defaultRelease));
  });
});
