import assert from 'node:assert/strict';
import { heatMap } from '../../src/report/heat-map.ts';
import { rolloutOf } from '../support/big-report.ts';

describe('a heat map', () => {
  it('of few nodes has a row for each, in the order in which they were done', () => {
    const map = heatMap(rolloutOf(12));
    assert.deepEqual([map.rows.length, map.group, map.span], [12, 1, 1]);
    assert.deepEqual(map.rows.map((row) => row.label).slice(-2), ['node-00011', 'node-00012']);
    const phases = map.rows[11]?.cells.map((cell) => cell.phase) ?? [];
    assert.deepEqual(
      [phases[0], phases[24], phases[25], phases[39], phases[40], phases.at(-1)],
      ['old', 'old', 'updating', 'updating', 'new', 'new'],
    );
  });

  it('of 5,000 nodes has at most 60 rows and 72 columns and loses none', () => {
    const map = heatMap(rolloutOf(5000));
    assert.ok(map.rows.length <= 60 && map.columns <= 72);
    assert.equal(
      map.rows.reduce((sum, row) => sum + Number(/^(\d+):/.exec(row.label)?.[1] ?? 1), 0),
      5000,
    );
    assert.ok(map.span * map.columns >= rolloutOf(5000).seconds);
    assert.ok(map.rows.every((row) => row.cells.length === map.columns));
  });

  it('gives a group the colour of its worst node, with the reason', () => {
    const map = heatMap(rolloutOf(5000, [17]));
    const last = map.rows.at(-1);
    const cell = last?.cells.at(-1);
    assert.deepEqual([cell?.phase, cell?.why], ['failed', 'cannot pull image (ImagePullBackOff)']);
    assert.match(last?.label ?? '', /… node-00018$/);
    assert.ok(map.rows.slice(0, -1).every((row) => row.cells.every((one) => one.phase !== 'failed')));
  });

  it('says how much of a group is new', () => {
    const shares = heatMap(rolloutOf(600)).rows[30]?.cells.map((cell) => cell.share) ?? [];
    assert.deepEqual([shares[0], shares.at(-1)], [0, 1]);
    assert.deepEqual(
      [...shares].sort((a, b) => a - b),
      shares,
    );
  });

  it('of nothing is empty', () => {
    assert.deepEqual(heatMap({ ...rolloutOf(1), rows: [], seconds: 0 }).rows, []);
  });
});
