import assert from 'node:assert/strict';
import fc from 'fast-check';
import { keptEndpoints, keptLabels, keptOfMigration, keptSwitch } from '../../../src/features/hosts/kept.ts';
import { readWayBack } from '../../../src/features/sidecars/facts.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { clusterOf } from '../../support/cluster-of.ts';
import { anything, FUZZ_RUNS, own } from '../../support/fuzz.ts';
import { switched } from '../../support/hep-kept.ts';

const runs = { numRuns: FUZZ_RUNS };
const INJECTOR = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: calico.sidecar.injectorConfigMap, namespace: calico.sidecar.injectorNamespace, labels: { a: 'b' } },
  data: { config: 'now', values: '{}' },
};
const ENDPOINT = { kind: 'HostEndpoint', metadata: { name: 'e' }, spec: { node: 'n' } };

/** What each stage keeps, with fields of any type in the first two layers. */
const fieldsOf = (known: object): fc.Arbitrary<object> =>
  fc
    .array(fc.tuple(fc.constantFrom(...Object.keys(known), '__proto__'), anything), { maxLength: 3 })
    .map((entries) => ({ ...known, ...own(entries) }));
const within = (known: Readonly<Record<string, object>>): fc.Arbitrary<unknown> =>
  fc.oneof(
    anything,
    fieldsOf(known),
    ...Object.entries(known).map(([name, value]) => fieldsOf(value).map((one) => ({ ...known, [name]: one }))),
  );
const texts = fc.dictionary(
  fc.constantFrom('/data/config', '/data/values', '/data/__proto__', '/metadata/labels/a', '/metadata/name', ''),
  fc.oneof(fc.constantFrom('now', 'before', 'a\nb\n'), anything),
);
const INJECTOR_REF = { apiVersion: 'v1', kind: 'ConfigMap', namespace: INJECTOR.metadata.namespace, name: INJECTOR.metadata.name };
/** What was changed in an injector, with data of any type. */
const injectors = fc.oneof(
  within({ changes: [{ ref: INJECTOR_REF, before: { '/data/config': 'before' }, after: { '/data/config': 'now' } }] }),
  fc.record({
    changes: fc.array(fc.record({ ref: fc.oneof(fc.constant(INJECTOR_REF), fieldsOf(INJECTOR_REF)), before: texts, after: texts })),
    undo: fc.constantFrom(true, false, undefined),
  }),
);
/** Objects that were deleted, whole. */
const wholes = (known: object) => {
  const ref = { apiVersion: 'v3', kind: 'HostEndpoint', name: 'e' };
  return fc.oneof(
    within({ changes: [{ ref, before: { '': known }, after: {} }] }),
    fc.record({
      changes: fc.array(fc.record({ ref: fc.constant(ref), before: fc.record({ '': within(known as never) }), after: anything })),
    }),
  );
};
const outcome = fc.constantFrom(undefined, { done: true }, { done: true, except: ['e'] }, { done: false });

/** The stage reads any two items, whatever they hold. */
function reads(stage: string, content: fc.Arbitrary<unknown>, read: (records: Kept) => Promise<unknown>): Promise<void> {
  const item = fc.record({ content, outcome });
  return fc.assert(
    fc.asyncProperty(fc.array(item, { minLength: 1, maxLength: 2 }), async (items) => {
      const kept = items.map((one, index) => ({
        id: `2026/${stage}/x#${index + 1}`,
        content: JSON.parse(JSON.stringify(one.content) ?? 'null'),
        ...(one.outcome ? { outcome: one.outcome } : {}),
      }));
      await read({ keptWith: async () => kept } as unknown as Kept);
    }),
    runs,
  );
}
type Kept = Parameters<typeof readWayBack>[0]['records'];

describe('whatever was kept of a stage', () => {
  it('is read by alp --undo without an error, and only texts are written', () =>
    reads('alp', injectors, async (records) => {
      const sources = { cluster: clusterOf([INJECTOR]).cluster, records: records as never };
      const { former } = await readWayBack(sources, { profile: calico, goal: { release: 'v3.32.1' } });
      for (const { patch } of former)
        for (const one of patch)
          if (one.path !== '/data') {
            assert.match(one.path, /^\/(data|metadata\/labels)\//);
            assert.ok(one.op === 'remove' || typeof one.value === 'string', one.path);
          }
    }));

  it('is read by hep --undo without an error', () =>
    reads(
      'hep',
      fc.oneof(
        wholes(ENDPOINT),
        within({ changes: [{ ref: { apiVersion: 'v1', kind: 'Node', name: 'n' }, before: {}, after: { '/metadata/labels/a': 'b' } }] }),
        within(switched('Enabled') as never),
      ),
      async (records) => {
        const kept = await keptOfMigration(records);
        for (const { endpoint } of keptEndpoints(kept).values()) assert.equal(typeof endpoint.metadata.name, 'string');
        for (const { key, place } of keptLabels(kept)) assert.deepEqual([typeof key, typeof place.after], ['string', 'string']);
        keptSwitch(kept);
      },
    ));
});
