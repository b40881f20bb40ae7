import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { KubeObject } from '../../src/kernel/object.ts';
import { mergeManifest } from '../../src/manifest/merge.ts';
import type { MergeResult } from '../../src/manifest/merge-input.ts';
import { config, container, env, knowledge } from '../support/merge-cases.ts';
import { type Five, fiveOf, mineOf, SIDES, type Value } from './own-file-table.ts';

const each = <From, To>(five: Five<From>, to: (one: From) => To): Five<To> =>
  Object.fromEntries(SIDES.map((side) => [side, to(five[side])])) as Five<To>;

function mergedWith({ base, applied, live, file, theirs }: Five<KubeObject>, resolutions = {}): MergeResult {
  const states = { base: [base], mine: [applied], file: [file], theirs: [theirs], live: [{ before: applied, now: live }] };
  return mergeManifest({ ...states, knowledge, resolutions });
}

/** The same where nothing but `mine` tells what the person has. */
const mergedAlone = ({ base, theirs }: Five<KubeObject>, mine: KubeObject): MergeResult =>
  mergeManifest({ base: [base], mine: [mine], theirs: [theirs], knowledge });

/** What a person gets to see of a merge: what comes out, and where they are asked. */
const seen = ({ documents, conflicts }: MergeResult) => [documents, conflicts.map(({ path }) => path)];

/** A list that is one value to the cluster and merges by its members: words with commas, arguments. */
function holdsList(lists: readonly string[], stateOf: (list: Value) => KubeObject, lost: readonly Five<Value>[]): void {
  const list = fc.option(fc.constantFrom(...lists), { nil: undefined });
  fc.assert(
    fc.property(fiveOf(list), (five) => {
      const [states, mine] = [each(five, stateOf), mineOf(five)];
      const merged = mergedWith(states);
      if (mine !== 'ask') return assert.deepEqual(seen(merged), seen(mergedAlone(states, stateOf(mine.value))));
      const [byFile, byCluster] = [mergedAlone(states, states.file), mergedAlone(states, states.live)];
      const isOne = byFile.conflicts.length + byCluster.conflicts.length === 0;
      // No question where either leads to the same.
      if (isOne && JSON.stringify(byFile.documents) === JSON.stringify(byCluster.documents)) {
        return assert.deepEqual(seen(merged), seen(byFile));
      }
      assert.equal(merged.conflicts.length, 1);
      assert.deepEqual(merged.documents, [states.theirs]);
    }),
    { numRuns: 500, examples: lost.map((five) => [five]) },
  );
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

const mounts = (all: Readonly<Record<string, Value>>): KubeObject => {
  const there = Object.entries(all).filter(([, subPath]) => subPath !== undefined);
  return container({ volumeMounts: there.map(([mountPath, subPath]) => ({ name: 'v', mountPath, subPath })) });
};

function mountsIn(text: string): Readonly<Record<string, Value>> {
  return Object.fromEntries([...text.matchAll(/"mountPath":"([^"]+)","subPath":"(\d)"/g)].map(([, path, subPath]) => [path, subPath]));
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

  it('tells nothing of a permission that it took away and that was allowed again in the cluster since', () => {
    const [all, fewer] = [role(['pods', 'get', 'patch']), role(['pods', 'get'])];
    assert.deepEqual(mergedWith({ base: all, applied: fewer, live: all, file: fewer, theirs: all }).edits, []);
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

  it('loses no mount of either in silence, wherever the volume went in the five states', () => {
    const PATHS = ['/a', '/b', '/c'] as const;
    const subPath = fc.option(fc.constantFrom('1', '2'), { nil: undefined });
    const all = fc.tuple(...PATHS.map(() => fiveOf(subPath)));
    fc.assert(
      fc.property(all, (five) => {
        const states = Object.fromEntries(
          SIDES.map((side) => [side, mounts({ '/z': '1', ...Object.fromEntries(PATHS.map((path, at) => [path, five[at]?.[side]])) })]),
        ) as Five<KubeObject>;
        const merged = mergedWith(states);
        const found = mountsIn(JSON.stringify(merged.documents));
        const mine = five.map(mineOf);
        if (!mine.includes('ask')) {
          const values = PATHS.map((path, at) => [path, (mine[at] as { readonly value: Value }).value]);
          const alone = mergedAlone(states, mounts({ '/z': '1', ...Object.fromEntries(values) }));
          assert.deepEqual(found, mountsIn(JSON.stringify(alone.documents)));
          return assert.equal(merged.conflicts.length, alone.conflicts.length);
        }
        const named = JSON.stringify(merged.conflicts.map(({ path, mine: is, theirs }) => [path, is, theirs]));
        for (const [at, path] of PATHS.entries()) {
          const [of, is] = [five[at] as Five<Value>, mine[at] as ReturnType<typeof mineOf>];
          if (of.base !== undefined && of.theirs === undefined) continue;
          const isAsked = named.includes(`[${path}]`) || named.includes(`"mountPath":"${path}"`);
          const isThere = is !== 'ask' && (is.value === of.base || is.value === found[path]);
          assert.ok(isAsked || isThere, `${path} ${JSON.stringify(five)}`);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('is asked about a mount that it alone moved, also where the cluster has none', () => {
    const [a, b, none] = [mounts({ '/a': '1', '/z': '1' }), mounts({ '/b': '1', '/z': '1' }), mounts({ '/z': '1' })];
    for (const live of [a, none]) {
      const states = { base: a, applied: live, live, file: b, theirs: a };
      const { documents, conflicts } = mergedWith(states);
      assert.deepEqual(documents, [a]);
      assert.match(conflicts[0]?.because ?? '', live === a ? /the cluster has \{"name":"v","mountPath":"\/a"/ : /the cluster has nothing/);
      const taken = mergedWith(states, { [conflicts[0]?.field ?? '']: 'mine' });
      assert.deepEqual(mountsIn(JSON.stringify(taken.documents)), { '/b': '1', '/z': '1' });
    }
  });

  it('loses no word of a list with commas in silence', () => {
    const lists = ['policy,node', 'policy, node', 'node', 'node,rr', 'node,loadbalancer', 'policy,node,rr', 'rr, node'];
    const words = { base: 'policy,node', applied: 'node,rr', live: 'node,rr', file: 'node', theirs: 'node,loadbalancer' };
    const spaces = { ...words, applied: 'policy,node,rr', live: 'policy,node,rr', file: 'policy, node' };
    holdsList(lists, (list) => env({ FIRST: '0', ...(list === undefined ? {} : { ENABLED_CONTROLLERS: list }) }), [words, spaces]);
  });

  it('loses no argument in silence', () => {
    const lists = ['a', 'a b', 'b', 'b x', 'c b', 'a b x', 'c a b', 'b c'];
    const lost = { base: 'b', applied: 'c a b', live: 'c a b', file: 'a b', theirs: 'a b x' };
    holdsList(lists, (list) => container(list === undefined ? {} : { args: list.split(' ') }), [lost]);
  });

  it('does not outvote the cluster about an object that neither release has', () => {
    const [older, newer] = [config({ a: '1', b: '1' }), config({ a: '2' })];
    const live = [{ before: newer, now: newer }];
    const { documents } = mergeManifest({ base: [], mine: [newer], file: [older], theirs: [], live });
    assert.deepEqual(documents, [newer]);
  });
});
