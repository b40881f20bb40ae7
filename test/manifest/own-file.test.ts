import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { KubeObject } from '../../src/kernel/object.ts';
import { mergeManifest } from '../../src/manifest/merge.ts';
import { agents, env, image, json } from '../support/merge-cases.ts';
import { type Five, fiveOf, mineOf, type SIDES, type Value } from './own-file-table.ts';

const NAMES = ['A', 'B', 'C'];
/** What the target with it is; undefined if a person decides. */
function resultOf(variable: Five<Value>): { readonly value: Value } | undefined {
  const { base, file, theirs } = variable;
  const mine = mineOf(variable);
  if (mine === 'ask') return base !== undefined && file !== undefined && theirs === undefined ? { value: undefined } : undefined;
  const { value } = mine;
  if (value === base || value === theirs) return { value: theirs };
  if (base !== undefined && value !== undefined && theirs === undefined) return { value: undefined };
  return base === theirs ? { value } : undefined;
}

const side = fc.option(fc.constantFrom('1', '2', '3'), { nil: undefined });
const variables = fc.tuple(...NAMES.map(() => fiveOf(side)));

describe('a person’s file beside the cluster', () => {
  it('loses nothing of either in silence, whatever the five states are', () => {
    fc.assert(
      fc.property(variables, (all) => {
        const state = (which: (typeof SIDES)[number]) => {
          const there = all.map((one, index) => [NAMES[index], one[which]] as const).filter(([, value]) => value !== undefined);
          return env({ FIRST: '0', ...Object.fromEntries(there) });
        };
        const { documents, conflicts } = mergeManifest({
          base: [state('base')],
          mine: [state('applied')],
          file: [state('file')],
          theirs: [state('theirs')],
          live: [{ before: state('applied'), now: state('live') }],
        });
        for (const [index, variable] of all.entries()) {
          const place = `env[${NAMES[index]}]`;
          const wanted = resultOf(variable);
          const isAsked = conflicts.some(({ path }) => path.includes(place));
          assert.equal(isAsked, wanted === undefined, `${place} ${JSON.stringify(variable)}`);
          const value = wanted ? wanted.value : variable.theirs;
          const text = JSON.stringify(documents);
          const found = new RegExp(`"name":"${NAMES[index]}","value":"(\\d)"`).exec(text)?.[1];
          assert.equal(found, value, `${place} ${JSON.stringify(variable)}`);
        }
      }),
      { numRuns: 500 },
    );
  });

  const askedOf = (base: KubeObject, live: KubeObject, file: KubeObject) => {
    const { conflicts } = mergeManifest({ base: [base], mine: [live], file: [file], theirs: [base], live: [{ before: live, now: live }] });
    return conflicts.map(({ path, mine }) => `${path.replace(/.*\]\./, '')} ${mine}`);
  };

  it('may name an older release from the same registry', () => {
    const [own, older] = ['own.example/x/node:v3.27.2', 'own.example/x/node:v3.27.1'].map(image) as [KubeObject, KubeObject];
    assert.deepEqual(askedOf(image('docker.io/x/node:v3.27.2'), own, older), []);
    assert.deepEqual(askedOf(image('docker.io/x/node:v3.27.2'), image('other.example/x/node:v3.27.2'), older), [
      'image own.example/x/node:v3.27.2',
    ]);
  });

  it('is compared member by member in a text of JSON', () => {
    assert.deepEqual(askedOf(json('{"a":1,"b":1}'), json('{"a":1,"b":2}'), json('{"a":2,"b":2}')), ['data.json.a 2']);
  });

  it('is asked about a place that the target has under another name', () => {
    const renames = [{ list: 'initContainers', from: 'old', to: 'new' }] as const;
    const inits = (name: string, value: string) =>
      agents({ containers: [{ name: 'c' }], initContainers: [{ name, env: [{ name: 'A', value }] }] });
    const [base, file, theirs] = [inits('old', '1'), inits('old', '2'), inits('new', '1')];
    const live = [{ before: base, now: base }];
    const { conflicts } = mergeManifest({
      ...{ base: [base], mine: [base], file: [file], theirs: [theirs], live },
      knowledge: { commaLists: [], renames },
    });
    assert.deepEqual(
      conflicts.map(({ path }) => path),
      ['spec.template.spec.initContainers[new].env[A].value'],
    );
  });

  it('tells nothing of a Secret’s values where the two disagree, and leaves them where they are', () => {
    const secret = (key: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { key } });
    const { documents, edits, conflicts, notes } = mergeManifest({
      base: [secret('')],
      mine: [secret('bmV3')],
      file: [secret('b2xk')],
      theirs: [secret('')],
      live: [{ before: secret('bmV3'), now: secret('bmV3') }],
    });
    assert.deepEqual([documents, conflicts], [[], []]);
    assert.doesNotMatch(JSON.stringify([edits, notes]), /bmV3|b2xk/);
  });

  it('is not followed into a ConfigMap’s text that only it has as JSON, without a question', () => {
    const text = (json: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { json } });
    const [base, file, live] = [text('{"a":1}'), text('{"a":2}'), text('no json')];
    const { conflicts } = mergeManifest({
      base: [base],
      mine: [live],
      file: [file],
      theirs: [base],
      live: [{ before: live, now: live }],
    });
    assert.match(conflicts[0]?.because ?? '', /the cluster has "no json"/);
  });
});
