import assert from 'node:assert/strict';
import { type ListRules, rulesOf } from '../../src/kube/list-keys.ts';
import { itemsOf } from '../../src/manifest/alike.ts';
import { carriedText, differences } from '../../src/manifest/carried-file.ts';
import { parseManifest } from '../../src/manifest/manifest.ts';
import { mergeManifest } from '../../src/manifest/merge.ts';
import { keptRules, listRulesOf, rulesToKeep } from '../../src/manifest/openapi-lists.ts';
import { upgradeText } from '../../src/manifest/upgrade-text.ts';

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const kinded = (version: string, properties: object) => ({
  'x-kubernetes-group-version-kind': [{ group: 'example.org', version, kind: 'Rack' }],
  properties,
});
const list = (items: object, more: object = {}) => ({ type: 'array', items, ...more });
const keys = (...names: readonly string[]) => ({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': names });

const document = {
  components: {
    schemas: {
      other: kinded('v2', {}),
      rack: kinded('v1', { spec: { allOf: [ref('spec')], default: {} } }),
      spec: {
        properties: {
          slots: list(ref('slot'), keys('row', 'side')),
          tags: list({ type: 'string' }, { 'x-kubernetes-list-type': 'set' }),
          args: list({ type: 'string' }, { 'x-kubernetes-list-type': 'atomic' }),
          ports: list(
            {},
            {
              ...keys('containerPort', 'protocol'),
              'x-kubernetes-patch-merge-key': 'containerPort',
              'x-kubernetes-patch-strategy': 'merge',
            },
          ),
          old: list({}, { 'x-kubernetes-patch-merge-key': 'name', 'x-kubernetes-patch-strategy': 'merge,retainKeys' }),
          replaced: list({}, { 'x-kubernetes-patch-merge-key': 'name', 'x-kubernetes-patch-strategy': 'replace' }),
          plain: list({}),
          inner: ref('spec'),
        },
      },
      slot: { properties: { row: { default: 0 }, side: { default: 'left' }, cables: list({}, keys('id')) } },
    },
  },
};

const rules = listRulesOf(document, 'example.org/v1', 'Rack') ?? assert.fail('no schema found');

describe('keys of lists from the schema of an API server', () => {
  it('are its map keys, with what stands for one that is left out', () => {
    assert.deepEqual(rules.get('spec.slots'), { keys: ['row', 'side'], defaults: { side: 'left' } });
    assert.deepEqual(rules.get('spec.slots.cables'), { keys: ['id'], defaults: {} });
  });

  it('are more than the merge key of a patch, which counts only where there is no other', () => {
    assert.deepEqual(rules.get('spec.ports'), { keys: ['containerPort', 'protocol'], defaults: {} });
    assert.deepEqual(rules.get('spec.old'), { keys: ['name'], defaults: {} });
  });

  it('are none where the list is a set or one value, and not known where the schema says nothing', () => {
    assert.deepEqual(
      ['spec.tags', 'spec.args', 'spec.replaced', 'spec.plain'].map((path) => rules.get(path)),
      ['set', 'atomic', undefined, undefined],
    );
  });

  it('are not known of a kind that the document does not have, or of no document', () => {
    assert.equal(listRulesOf(document, 'example.org/v1', 'Other'), undefined);
    assert.equal(listRulesOf(undefined, 'example.org/v1', 'Rack'), undefined);
  });
});

describe('a merge by the server’s keys', () => {
  const listRules: ListRules = new Map([['example.org/v1 Rack', rules]]);
  const rack = (spec: object) => ({ apiVersion: 'example.org/v1', kind: 'Rack', metadata: { name: 'r' }, spec });
  const merged = (base: object, mine: object, theirs: object, more: { readonly listRules?: ListRules } = { listRules }) => {
    const result = mergeManifest({ base: [rack(base)], mine: [rack(mine)], theirs: [rack(theirs)], ...more });
    return { spec: result.documents[0]?.spec, edits: result.edits.map(({ outcome, path }) => `${outcome} ${path}`) };
  };
  const slot = (row: number, load: string, more: object = {}) => ({ row, load, ...more });

  it('merges item by item where the table would take the list as one value', () => {
    const states = [
      { slots: [slot(1, 'a')] },
      { slots: [slot(1, 'mine')] },
      { slots: [slot(1, 'a', { side: 'left' }), slot(2, 'new')] },
    ] as const;
    assert.deepEqual(merged(...states), {
      spec: { slots: [slot(1, 'mine', { side: 'left' }), slot(2, 'new')] },
      edits: ['kept spec.slots[1/left].load'],
    });
    assert.deepEqual(merged(...states, {}).edits, ['conflict spec.slots']);
  });

  it('adds to a set', () => {
    assert.deepEqual(merged({ tags: ['a'] }, { tags: ['a', 'm'] }, { tags: ['a', 't'] }).spec, { tags: ['a', 'm', 't'] });
  });

  it('takes a list of a name that the table knows as one value if the server does', () => {
    const env = { env: list({}, { 'x-kubernetes-list-type': 'atomic' }) };
    const atomic = listRulesOf(
      { components: { schemas: { rack: kinded('v1', { spec: { properties: env } }) } } },
      'example.org/v1',
      'Rack',
    );
    const own = new Map([['example.org/v1 Rack', atomic ?? assert.fail('no schema')]]);
    const states = [{ env: [{ name: 'A' }] }, { env: [{ name: 'A' }, { name: 'M' }] }, { env: [{ name: 'A' }] }] as const;
    assert.deepEqual(merged(...states, { listRules: own }).edits, ['kept spec.env']);
    assert.deepEqual(merged(...states, {}).edits, ['kept spec.env[M]']);
  });

  describe('in the text of the target', () => {
    const text = `apiVersion: example.org/v1
kind: Rack
metadata:
  name: r
spec:
  slots:
    # The first row.
    - row: 1
      load: "a"   # as released
      cables:
        # Power.
        - id: p
          length: 1
    # The second row.
    - row: 2
      load: "b"
`;
    const cables = (length: number) => ({ cables: [{ id: 'p', length }] });
    const documents = [rack({ slots: [slot(1, 'a', cables(5)), slot(2, 'mine')] })];

    it('keeps items with an edit and what stands beside it, however deep', () => {
      assert.equal(upgradeText(text, { documents }, listRules), text.replace('length: 1', 'length: 5').replace('"b"', '"mine"'));
      assert.doesNotMatch(upgradeText(text, { documents }), /as released/);
    });

    it('keeps an item’s text when another comes before it', () => {
      const more = [rack({ slots: [slot(0, 'new'), slot(1, 'a', cables(5)), slot(2, 'b')] })];
      assert.match(
        upgradeText(text, { documents: more }, listRules),
        /load: new[\s\S]*# The first row\.\n {4}- row: 1\n {6}load: "a" +# as released/,
      );
    });

    it('is the same when a run goes on, by the rules that were kept with the edits', () => {
      const released = { name: 'upgrade.yaml', text, documents: parseManifest(text, 'upgrade.yaml').documents.map(({ object }) => object) };
      const found = differences([released], documents).get('upgrade.yaml') ?? assert.fail('no difference');
      const kept = rulesToKeep(listRules, found.changed);
      assert.deepEqual(kept, {
        'example.org/v1 Rack': {
          'spec.slots': { keys: ['row', 'side'], defaults: { side: 'left' } },
          'spec.slots.cables': { keys: ['id'], defaults: {} },
        },
      });
      const later = keptRules(JSON.parse(JSON.stringify(kept)));
      assert.equal(carriedText(released, found, later), upgradeText(text, { documents }, listRules));
    });
  });

  it('still sees single tolerations, which the server replaces whole', () => {
    const items = [{ key: 'a', operator: 'Exists' }];
    assert.deepEqual([...(itemsOf('tolerations', items, 'atomic')?.keys() ?? [])], [...(itemsOf('tolerations', items)?.keys() ?? [])]);
    assert.equal(rulesOf({ apiVersion: 'apps/v1', kind: 'DaemonSet' }, listRules), undefined);
  });
});
