import assert from 'node:assert/strict';
import type { KeptItem } from '../../../src/core/ports.ts';
import { keptOfMigration } from '../../../src/stages/hep/kept.ts';
import { keptByRun } from '../../../src/stages/kept.ts';

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

const recordsOf = (items: readonly KeptItem[]) => ({ keptWith: async () => items.toSorted((a, b) => (a.id < b.id ? -1 : 1)) });
const migration = (...runs: readonly (readonly KeptItem[])[]) => keptOfMigration(recordsOf(runs.flat()));

describe('what a migration kept', () => {
  const rows: readonly (readonly [title: string, earlier: readonly KeptItem[][], mine: readonly KeptItem[][]])[] = [
    ['is that of its one run, in the order of keeping', [whole(1)], [whole(2)]],
    ['goes back to the run that enabled, and no further', [whole(1)], [whole(2), rest(3), rest(4)]],
    ['takes the labels of a run that came no further', [whole(1), rest(2)], [labels(3), labels(4), whole(5), rest(6)]],
    ['is all of it where a person enabled', [], [rest(1), [...labels(2), ...rest(2)]]],
    ['is nothing where nothing was migrated', [], []],
  ];
  for (const [title, earlier, mine] of rows) it(title, async () => assert.deepEqual(await migration(...earlier, ...mine), mine.flat()));

  it('is told run by run, each in the order of keeping', async () =>
    assert.deepEqual(await keptByRun(recordsOf([...whole(1), ...rest(2)]), 'hep'), [whole(1), rest(2)]));
});
