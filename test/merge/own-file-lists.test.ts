import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { KubeObject } from '../../src/core/object.ts';
import { mergeManifest } from '../../src/merge/merge.ts';
import type { MergeResult } from '../../src/merge/merge-input.ts';
import { config, knowledge } from '../support/merge-cases.ts';
import { type Five, fiveOf, mineOf, SIDES } from '../support/own-file-table.ts';

function mergedWith({ base, applied, live, file, theirs }: Five<KubeObject>, resolutions = {}): MergeResult {
  const states = { base: [base], mine: [applied], file: [file], theirs: [theirs], live: [{ before: applied, now: live }] };
  return mergeManifest({ ...states, knowledge, resolutions });
}

const role = (...rules: readonly (readonly [resource: string, ...verbs: string[]])[]): KubeObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'node' },
  rules: rules.map(([resource, ...verbs]) => ({ apiGroups: [''], resources: [resource], verbs })),
});

function permissionsIn(rules: unknown): readonly string[] {
  const list = (Array.isArray(rules) ? rules : []) as readonly {
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
  return list.flatMap(({ resources, verbs }) => resources.flatMap((resource) => verbs.map((verb) => `${resource} ${verb}`))).toSorted();
}

describe('a person’s file beside the cluster, in lists', () => {
  it('loses no permission of either in silence, whatever the five states are', () => {
    const NAMES = ['pods get', 'pods list', 'nodes get'] as const;
    const has = fc.option(fc.constant('1'), { nil: undefined });
    const all = fc.tuple(...NAMES.map(() => fiveOf(has)));
    fc.assert(
      fc.property(all, fiveOf(fc.boolean()), (permissions, grouped) => {
        const states = Object.fromEntries(
          SIDES.map((side) => {
            const there = NAMES.filter((_, index) => permissions[index]?.[side] !== undefined).map((name) => name.split(' '));
            const single = there.map(([resource = '', verb = '']) => [resource, verb] as const);
            const byThing = [...Map.groupBy(single, ([resource]) => resource)].map(
              ([resource, some]) => [resource, ...some.map(([, verb]) => verb)] as const,
            );
            return [side, role(['services', 'get'], ...(grouped[side] ? byThing : single))];
          }),
        ) as Five<KubeObject>;
        const { documents, conflicts } = mergedWith(states);
        const [result, asked] = [permissionsIn(documents[0]?.rules), permissionsIn(conflicts.map(({ mine }) => mine))];
        for (const [index, five] of permissions.entries()) {
          const [name, mine] = [NAMES[index] ?? '', mineOf(five)];
          // What the file took away and the target has stays: a merge takes no permission away.
          assert.equal(asked.includes(name), mine === 'ask' && five.file !== undefined, `${name} ${JSON.stringify(five)}`);
          const isKept = mine !== 'ask' && mine.value !== undefined && five.base === undefined;
          assert.equal(result.includes(name), five.theirs !== undefined || isKept, `${name} ${JSON.stringify(five)}`);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('takes no permission back that was applied after it', () => {
    const released = role(['pods', 'get', 'list', 'patch']);
    const applied = role(['pods', 'get', 'list'], ['secrets', 'get']);
    const { documents, edits, conflicts } = mergedWith({
      ...{ base: released, theirs: released, applied, live: applied },
      file: role(['pods', 'get', 'list']),
    });
    assert.deepEqual(permissionsIn(documents[0]?.rules), ['pods get', 'pods list', 'pods patch', 'secrets get']);
    assert.deepEqual(conflicts, []);
    assert.deepEqual(
      edits.map(({ outcome, path, source }) => `${outcome} ${path} ${source.kind}`),
      ['kept rules[secrets] last-applied', 'target rules[pods] file'],
    );
  });

  it('is asked about a verb of its own on a thing of which the cluster allows another', () => {
    const [released, applied] = [role(['pods', 'get']), role(['pods', 'get', 'list'])];
    const states = { base: released, theirs: released, applied, live: applied, file: role(['pods', 'get', '*']) };
    const { documents, conflicts } = mergedWith(states);
    assert.deepEqual(permissionsIn(documents[0]?.rules), ['pods get', 'pods list']);
    assert.deepEqual(permissionsIn(conflicts.map(({ mine }) => mine)), ['pods *']);
    assert.match(conflicts[0]?.because ?? '', /^Your file allows it, and the cluster does not\./);
    const taken = mergedWith(states, { 'ClusterRole/node:rules[pods]': 'mine' });
    assert.deepEqual([permissionsIn(taken.documents[0]?.rules), taken.conflicts], [['pods *', 'pods get', 'pods list'], []]);
  });

  it('does not outvote the cluster about an object that neither release has', () => {
    const [older, newer] = [config({ a: '1', b: '1' }), config({ a: '2' })];
    const live = [{ before: newer, now: newer }];
    const { documents } = mergeManifest({ base: [], mine: [newer], file: [older], theirs: [], live });
    assert.deepEqual(documents, [newer]);
  });
});
