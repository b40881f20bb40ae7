import assert from 'node:assert/strict';
import {
  type AddedLabel,
  hasRemoved,
  keptEndpoints,
  keptLabels,
  keptOfMigration,
  keptSwitch,
  type Remover,
} from '../../../src/features/hosts/kept.ts';
import type { KeptItem, KeptOutcome } from '../../../src/kernel/run-record.ts';
import { object } from '../../fixtures/facts.ts';
import { asRead, keptItem, labelled, removed, switched, undone } from '../../support/hep-kept.ts';

const hep = (name: string) => object('crd.projectcalico.org/v1', `HostEndpoint/${name}`, {});
const HOST = { role: 'host' };
const labels = (run: number) => [keptItem(`2026-${run}/hep/labels#1`, labelled(HOST, ['n']))];
const whole = (run: number) => [
  ...labels(run),
  keptItem(`2026-${run}/hep/enable#2`, switched('Enabled')),
  keptItem(`2026-${run}/hep/delete-1#10`, removed(hep('a'))),
];
const rest = (run: number) => [
  keptItem(`2026-${run}/hep/delete-1#11`, removed(hep('b'))),
  keptItem(`2026-${run}/hep/delete-2#12`, removed(hep('c'))),
];
const unlabelled = (run: number) => [keptItem(`2026-${run}/hep/unlabel#3`, undone(labelled(HOST, ['n'])))];

const migration = (items: readonly KeptItem[]) =>
  keptOfMigration({ keptWith: async () => items.toSorted((a, b) => (a.id < b.id ? -1 : 1)) });

describe('what a migration kept', () => {
  const rows: readonly (readonly [title: string, earlier: readonly KeptItem[][], mine: readonly KeptItem[][]])[] = [
    ['is that of its one run, in the order of keeping', [whole(1)], [whole(2)]],
    ['goes back to the run that enabled, and no further', [whole(1)], [whole(2), rest(3), rest(4)]],
    ['takes the labels of a run that came no further', [whole(1), rest(2)], [labels(3), labels(4), whole(5), rest(6)]],
    ['takes the labels of a run that came no further and was taken back', [whole(1)], [[...labels(2), ...unlabelled(2)], whole(3)]],
    ['is all of it where a person enabled', [], [rest(1), [...labels(2), ...rest(2)]]],
    ['is nothing where nothing was migrated', [], []],
  ];
  for (const [title, earlier, mine] of rows)
    it(title, async () => {
      const read = await migration([...earlier, ...mine].flat());
      assert.deepEqual(
        read.map(({ id }) => id),
        mine.flat().map(({ id }) => id),
      );
    });

  const [node] = labelled(HOST, ['n']).changes;
  const [endpoint] = removed(hep('a')).changes;
  const [setting] = switched('Enabled').changes;
  const odd: readonly unknown[] = [
    { ...node, after: { '/spec/taints': 'x' } },
    { ...node, after: { '/metadata/labels/a': 7 } },
    { ...node, after: { '/metadata/labels/a/b': 'x' } },
    { ...endpoint, ref: { ...endpoint?.ref, name: 'b' } },
    { ...endpoint, before: { '': { ...hep('a'), kind: 'ClusterRoleBinding' } } },
    { ...endpoint, before: { '': { ...hep('a'), spec: { expectedIPs: [7] } } } },
    { ...endpoint, before: {}, after: { '': hep('a') } },
    { ...setting, after: { '/spec/prometheusMetricsPort': '0' } },
  ];
  for (const change of odd)
    it(`passes over what no migration does: ${JSON.stringify(change)}`, async () =>
      assert.deepEqual(await migration([keptItem('2026-1/hep/x#1', { changes: [change] })]), []));
});

const [DONE, UNTOUCHED, UNTOLD] = [{ done: true }, { done: false }, undefined];
const step = (content: unknown, outcome?: KeptOutcome) => keptItem('r/hep/x#1', content, outcome);
const enabling = step(switched('Enabled'), DONE);
const off = (outcome?: KeptOutcome) => step(switched('Disabled'), outcome);
const labelling = (...nodes: readonly string[]) => step(labelled(HOST, nodes), DONE);
const unlabelling = (outcome: KeptOutcome | undefined, ...nodes: readonly string[]) => step(undone(labelled(HOST, nodes)), outcome);

describe('the setting that the migration found', () => {
  const rows: Readonly<Record<string, readonly [kept: readonly KeptItem[], found: boolean]>> = {
    'is what it was when it switched automatic endpoints on': [[enabling], true],
    'is that of several attempts': [[enabling, enabling], true],
    'counts no longer once the way back has switched them off': [[enabling, off(DONE)], false],
    'counts where nobody knows whether it did': [[enabling, off(UNTOLD)], true],
    'counts again once another migration has switched them on': [[enabling, off(DONE), enabling], true],
  };
  for (const [title, [kept, found]] of Object.entries(rows))
    it(title, async () => assert.equal(keptSwitch(await asRead(kept)) !== undefined, found));
});

describe('the labels that the migration put on nodes', () => {
  const text = ({ uid, key, place, hasSwitched }: AddedLabel) => `${uid} ${key}=${place.after}${hasSwitched ? ', off before' : ''}`;
  const rows: Readonly<Record<string, readonly [kept: readonly KeptItem[], labels: readonly string[]]>> = {
    'are those of all its parts, each once': [
      [labelling('a'), labelling('a', 'b'), enabling],
      ['a role=host, off before', 'b role=host, off before'],
    ],
    'are without what the way back took off': [[labelling('a', 'b'), unlabelling(DONE, 'a')], ['b role=host']],
    'are all that it may not have removed': [[labelling('a'), unlabelling(UNTOLD, 'a')], ['a role=host']],
    'count again once they were put on again': [
      [labelling('a'), enabling, off(DONE), unlabelling(DONE, 'a'), labelling('a')],
      ['a role=host'],
    ],
    'need automatic endpoints off that were switched on with them, also once the way back has switched those off': [
      [labelling('a'), enabling, off(DONE)],
      ['a role=host, off before'],
    ],
    'do not need those off that a person switched on since': [[enabling, off(DONE), labelling('a')], ['a role=host']],
  };
  for (const [title, [kept, labels]] of Object.entries(rows))
    it(title, async () => assert.deepEqual(keptLabels(await asRead(kept)).map(text), labels));
});

const removal = (outcome?: KeptOutcome, ...names: readonly string[]) =>
  step(removed(...(names.length > 0 ? names : ['a']).map(hep)), outcome);
const back = (outcome?: KeptOutcome) => step(undone(removed(hep('a'))), outcome);

/** What was kept, who removed `a`, and whether the next removal is the first of all. */
const rows: Readonly<Record<string, readonly [kept: readonly KeptItem[], remover: Remover | undefined, removed: boolean]>> = {
  'nothing was kept': [[], undefined, false],
  'it was done': [[enabling, removal(DONE)], 'migration', true],
  'it found nothing to do': [[enabling, removal(UNTOUCHED)], 'other', false],
  'nothing tells what became of it': [[enabling, removal()], 'untold', false],
  'it was gone, beside another that was removed': [[removal({ done: true, except: ['a'] }, 'a', 'b')], 'other', true],
  'it was removed, beside another that was gone': [[removal({ done: true, except: ['b'] }, 'a', 'b')], 'migration', true],
  'both were gone': [[removal({ done: false, except: ['a', 'b'] }, 'a', 'b')], 'other', false],
  'it was changed at first, and then removed': [[removal(UNTOUCHED), removal(DONE)], 'migration', true],
  'it was removed, made again, and gone when its turn came again': [[removal(DONE), removal(UNTOUCHED)], 'other', true],
  'nobody knows whether the first program did it, and the second found it gone': [[removal(), removal(UNTOUCHED)], 'untold', false],
  'it was put back': [[enabling, removal(DONE), back(DONE)], 'other', true],
  'nobody knows whether it was put back': [[enabling, removal(DONE), back()], 'migration', true],
  'it was put back and removed by another migration': [[enabling, removal(DONE), back(DONE), enabling, removal(DONE)], 'migration', true],
  'it was put back, and another migration has begun': [[enabling, removal(DONE), back(DONE), enabling], 'other', false],
  'it was put back, automatic ones were switched off, and a person switched them on': [
    [enabling, removal(DONE), back(DONE), off(DONE)],
    'other',
    false,
  ],
  'it was put back and the labels removed, where a person had switched automatic ones on': [
    [removal(DONE), back(DONE), unlabelling(DONE, 'n')],
    'other',
    false,
  ],
  'nobody knows whether they were switched off': [[enabling, removal(DONE), off()], 'migration', true],
};

describe('who removed an old endpoint', () => {
  for (const [title, [items, remover, isRemoved]] of Object.entries(rows)) {
    it(`is ${remover ?? 'nobody'} where ${title}`, async () => {
      const kept = await asRead(items);
      assert.equal(keptEndpoints(kept).get('a')?.remover, remover);
      assert.equal(hasRemoved(kept), isRemoved);
    });
  }
});
