import assert from 'node:assert/strict';
import type { KubeObject } from '../../src/core/object.ts';
import { type BaseCandidate, mergeWithNearest, rankBases } from '../../src/merge/rank-bases.ts';
import { env } from '../support/merge-cases.ts';

const candidate = (release: string, object: KubeObject): BaseCandidate => ({ release, documents: [object] });
const definition = (scope: string): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'pools.example.org' },
  spec: { scope },
});

const old = candidate('v3.26.0', env({ A: '1', B: '1', C: '1', D: '1', E: '1' }));
const middle = candidate('v3.27.2', env({ A: '1', TIMEOUT: '10' }));
const next = candidate('v3.27.3', env({ A: '1', TIMEOUT: '20' }));

describe('rankBases', () => {
  const mine = [env({ A: '2', TIMEOUT: '10' })];

  it('puts the release with the fewest edits first', () => {
    const ranked = rankBases({ mine }, [old, next, middle]);
    assert.deepEqual(
      ranked.map(({ release, edits, near }) => [release, edits, near]),
      [
        ['v3.27.2', 1, true],
        ['v3.27.3', 2, true],
        ['v3.26.0', 6, false],
      ],
    );
  });

  it('counts the release that the images tell as near, however many edits it has', () => {
    assert.equal(rankBases({ mine }, [old, middle], 'v3.26.0').find(({ release }) => release === 'v3.26.0')?.near, true);
  });

  it('asks about no other release where one is equal to the letter', () => {
    const ranked = rankBases({ mine: [env({ A: '1', TIMEOUT: '10' })] }, [old, middle, next], 'v3.27.2');
    assert.deepEqual(
      ranked.filter(({ near }) => near).map(({ release }) => release),
      ['v3.27.2'],
    );
  });

  it('asks about no other minor where images and text agree on the release', () => {
    const older = candidate('v3.26.9', env({ A: '1', TIMEOUT: '10', NEW: '1' }));
    const ranked = rankBases({ mine }, [older, middle, next], 'v3.27.2');
    assert.deepEqual(
      ranked.filter(({ near }) => near).map(({ release }) => release),
      ['v3.27.2', 'v3.27.3'],
    );
    const unlabelled = rankBases({ mine }, [older, middle, next]);
    assert.ok(unlabelled.every(({ near }) => near));
  });

  it('of equals takes the one that the images tell, else the older', () => {
    const same = ['v3.27.4', 'v3.27.10', 'v3.27.3'].map((release) => candidate(release, env({ A: '1', TIMEOUT: '10' })));
    const first = (labelled?: string) => rankBases({ mine }, same, labelled)[0]?.release;
    assert.deepEqual([first(), first('v3.27.10')], ['v3.27.3', 'v3.27.10']);
  });

  it('tells releases apart by their definitions where nothing else does', () => {
    const one = (release: string, text: string) => ({ release, documents: [env({ A: '1' }), definition(text)] });
    const ranked = rankBases({ mine: [env({ A: '2' }), definition('b')] }, [one('v3.27.1', 'a'), one('v3.27.2', 'b')]);
    assert.deepEqual(
      ranked.map(({ release, edits, ownEdits }) => [release, edits, ownEdits]),
      [
        ['v3.27.2', 1, 1],
        ['v3.27.1', 2, 1],
      ],
    );
  });
});

describe('mergeWithNearest', () => {
  it('accepts the best where all near ones lead to the same', () => {
    const merged = mergeWithNearest({ mine: [env({ A: '2', TIMEOUT: '20' })], theirs: [env({ A: '1', TIMEOUT: '20' })] }, [middle, next]);
    assert.equal(merged?.base.release, 'v3.27.3');
    assert.deepEqual(merged?.result.documents, [env({ A: '2', TIMEOUT: '20' })]);
    assert.deepEqual(merged?.result.conflicts, []);
  });

  it('asks about fields in which the results differ, and guesses nothing', () => {
    const merged = mergeWithNearest({ mine: [env({ A: '2', TIMEOUT: '10' })], theirs: [env({ A: '1', TIMEOUT: '20' })] }, [middle, next]);
    assert.equal(merged?.base.release, 'v3.27.2');
    assert.deepEqual(merged?.result.documents, [env({ A: '2', TIMEOUT: '20' })]);
    assert.deepEqual(
      merged?.result.conflicts.map(({ path, because }) => [path, because]),
      [['spec.template.spec.containers[c].env[TIMEOUT].value', 'It depends on which release was installed: v3.27.2, v3.27.3.']],
    );
  });

  it('asks as well where the target dropped what one release had of its own and by another was added', () => {
    const mine = [env({ A: '2', TIMEOUT: '10', OLD: '1' })];
    const theirs = [env({ A: '1', TIMEOUT: '10' })];
    const having = candidate('v3.27.1', env({ A: '1', TIMEOUT: '10', OLD: '1' }));
    const decided = (side?: 'mine' | 'theirs') => {
      const field = mergeWithNearest({ mine, theirs }, [having, middle])?.result.conflicts[0]?.field ?? assert.fail('nothing to decide');
      const resolutions = side && { [field]: side };
      return mergeWithNearest({ mine, theirs, ...(resolutions ? { resolutions } : {}) }, [having, middle]);
    };
    assert.deepEqual(
      decided()?.result.conflicts.map(({ path, because }) => [path, because]),
      [['spec.template.spec.containers[c].env[OLD]', 'It depends on which release was installed: v3.27.1, v3.27.2.']],
    );
    assert.deepEqual(decided('mine')?.result.documents, [env({ A: '2', TIMEOUT: '10', OLD: '1' })]);
    assert.deepEqual(decided('theirs')?.result.documents, [env({ A: '2', TIMEOUT: '10' })]);
  });

  it('takes the release that the images tell where nothing was edited, and does not even look at the others', () => {
    const unread: BaseCandidate = {
      release: 'v3.27.3',
      get documents(): readonly KubeObject[] {
        throw new Error('another release was asked about');
      },
    };
    const input = { mine: middle.documents, theirs: [env({ A: '1', TIMEOUT: '20' })] };
    const merged = mergeWithNearest(input, [middle, unread], 'v3.27.2');
    assert.deepEqual([merged?.base.release, merged?.near.length, merged?.result.edits], ['v3.27.2', 1, []]);
  });

  it('doubts a base with more edits than anyone makes by hand, unless the images tell it', () => {
    const many = env(Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`V${index}`, '1'])));
    const doubt = (labelled?: string) => mergeWithNearest({ mine: [many], theirs: [env({})] }, [middle], labelled)?.doubt;
    assert.match(doubt() ?? '', /52 differences from v3\.27\.2 .* --base/);
    assert.equal(doubt('v3.27.2'), undefined);
  });

  it('has no answer without a candidate', () => {
    assert.equal(mergeWithNearest({ mine: [], theirs: [] }, []), undefined);
  });
});
