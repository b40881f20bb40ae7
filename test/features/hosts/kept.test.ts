import assert from 'node:assert/strict';
import { type AddedLabel, keptLabels, keptOfMigration, keptSetting } from '../../../src/features/hosts/kept.ts';
import { keptByRun } from '../../../src/features/survey/kept.ts';
import type { KeptItem, KeptOutcome } from '../../../src/kernel/run-record.ts';

const item = (id: string, content: object): KeptItem => ({ id, content });
const labels = (run: number) => [item(`2026-${run}/hep/labels#1`, { labels: [] })];
const whole = (run: number) => [
  ...labels(run),
  item(`2026-${run}/hep/enable#2`, { configuration: { name: 'default' } }),
  item(`2026-${run}/hep/delete-1#10`, { endpoints: [] }),
];
const rest = (run: number) => [
  item(`2026-${run}/hep/delete-1#11`, { endpoints: [] }),
  item(`2026-${run}/hep/delete-2#12`, { endpoints: [] }),
];

const unlabelled = (run: number) => [item(`2026-${run}/hep/unlabel#3`, { unlabelled: [] })];

const recordsOf = (items: readonly KeptItem[]) => ({ keptWith: async () => items.toSorted((a, b) => (a.id < b.id ? -1 : 1)) });
const migration = (...runs: readonly (readonly KeptItem[])[]) => keptOfMigration(recordsOf(runs.flat()));

describe('what a migration kept', () => {
  const rows: readonly (readonly [title: string, earlier: readonly KeptItem[][], mine: readonly KeptItem[][]])[] = [
    ['is that of its one run, in the order of keeping', [whole(1)], [whole(2)]],
    ['goes back to the run that enabled, and no further', [whole(1)], [whole(2), rest(3), rest(4)]],
    ['takes the labels of a run that came no further', [whole(1), rest(2)], [labels(3), labels(4), whole(5), rest(6)]],
    ['takes the labels of a run that came no further and was taken back', [whole(1)], [[...labels(2), ...unlabelled(2)], whole(3)]],
    ['is all of it where a person enabled', [], [rest(1), [...labels(2), ...rest(2)]]],
    ['is nothing where nothing was migrated', [], []],
  ];
  for (const [title, earlier, mine] of rows) it(title, async () => assert.deepEqual(await migration(...earlier, ...mine), mine.flat()));

  it('is told run by run, each in the order of keeping', async () =>
    assert.deepEqual(await keptByRun(recordsOf([...whole(1), ...rest(2)]), 'hep'), [whole(1), rest(2)]));
});

const [DONE, UNTOLD] = [{ done: true }, undefined];
const step = (content: object, outcome?: KeptOutcome): KeptItem => ({ ...item('r/hep/x#1', content), ...(outcome ? { outcome } : {}) });
const OFF = { name: 'default', spec: { controllers: {} } };
const enabling = step({ configuration: OFF }, DONE);
const off = (outcome?: KeptOutcome) => step({ switchedOff: true }, outcome);
const host = (...nodes: readonly string[]) => nodes.map((node) => ({ node, uid: node, labels: { role: 'host' } }));
const labelling = (...nodes: readonly string[]) => step({ labels: host(...nodes) }, DONE);
const unlabelling = (outcome: KeptOutcome | undefined, ...nodes: readonly string[]) => step({ unlabelled: host(...nodes) }, outcome);

describe('the setting that the migration found', () => {
  const rows: Readonly<Record<string, readonly [kept: readonly KeptItem[], setting: typeof OFF | undefined]>> = {
    'is what it was when it switched automatic endpoints on': [[enabling], OFF],
    'is that of the first of several attempts': [[enabling, step({ configuration: { name: 'default', spec: 'later' } })], OFF],
    'counts no longer once the way back has switched them off': [[enabling, off(DONE)], undefined],
    'counts where nobody knows whether it did': [[enabling, off(UNTOLD)], OFF],
    'counts again once another migration has switched them on': [[enabling, off(DONE), enabling], OFF],
  };
  for (const [title, [kept, setting]] of Object.entries(rows)) it(title, () => assert.deepEqual(keptSetting(kept), setting));
});

describe('the labels that the migration put on nodes', () => {
  const text = ({ uid, key, value, before }: AddedLabel) => `${uid} ${key}=${value}${before ? ', off before' : ''}`;
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
  for (const [title, [kept, labels]] of Object.entries(rows)) it(title, () => assert.deepEqual(keptLabels(kept).map(text), labels));
});
