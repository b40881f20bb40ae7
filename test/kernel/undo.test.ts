import assert from 'node:assert/strict';
import { type DataPlane, INSTALL_PATHS, MANIFESTS } from '../../src/kernel/installation.ts';
import { NO_RETURNS, noWayBack, rowsFrom, UNDO, undoRow } from '../../src/kernel/undo.ts';
import { calico } from '../../src/profiles/calico.ts';

const past = (path: string, from?: string, dataPlane?: DataPlane) => ({
  path,
  intent: from === undefined ? {} : { from },
  ...(dataPlane === undefined ? {} : { dataPlane }),
});

describe('what a rollback takes back', () => {
  it('is an upgrade under an operator from v3.30 on; an older one does not run on the new CRDs', () => {
    for (const from of ['v3.30.0', 'v3.30.7', 'v3.31.7', 'v3.32.0']) assert.equal(noWayBack(past('operator', from)), undefined, from);
    for (const from of ['v3.15.5', 'v3.29.7', undefined, 'unknown'])
      assert.equal(noWayBack(past('operator', from)), NO_RETURNS.operator.long, from);
  });

  it('is in eBPF mode an upgrade from v3.31 on, on every path', () => {
    for (const path of INSTALL_PATHS) {
      assert.equal(noWayBack(past(path, 'v3.30.7', 'ebpf')), NO_RETURNS.tables.long, path);
      assert.equal(noWayBack(past(path, 'v3.31.0', 'ebpf')), undefined, path);
    }
  });

  it('is told by the one table: what it refuses, the row of that point does not promise, and what the row promises, it does not refuse', () => {
    for (const path of INSTALL_PATHS)
      for (const from of ['v3.15.5', 'v3.29.7', 'v3.30.7', 'v3.31.7'])
        for (const reached of UNDO.map((row) => row.reached)) {
          const row = undoRow(past(path, from), [reached]);
          if (row?.reached !== reached || row.dataPlane === 'ebpf' || row.by === 'command') continue;
          assert.equal(row.by === 'rollback', noWayBack(past(path, from)) === undefined, `${path} ${from} ${reached}`);
        }
  });

  it('goes by the release since which the agents of the profile have new eBPF tables', () => {
    assert.deepEqual(
      UNDO.filter(({ reached }) => reached === 'tables').map(({ before }) => before),
      [calico.ebpfTablesSince],
    );
  });

  it('says of every install path how far back it goes once agents, Typha and controllers are new', () => {
    for (const path of INSTALL_PATHS) assert.equal(undoRow(past(path, 'v3.31.7'), ['workloads'])?.by, 'rollback', path);
  });

  it('says of every path of a manifest, in one row, what becomes of the names of policies', () => {
    const named = UNDO.filter(({ reached }) => reached === 'names').flatMap(({ paths }) => paths);
    assert.deepEqual(named.toSorted(), MANIFESTS.toSorted());
  });

  it('has no row for an unknown source that only newer ones have', () => {
    assert.ok(rowsFrom(undefined).every(({ since }) => since === undefined));
    assert.equal(undoRow(past('operator'), ['references', 'crds', 'workloads'])?.by, 'forward');
    assert.equal(undoRow(past('operator', 'v3.31.7'), ['references', 'crds', 'workloads'])?.by, 'rollback');
  });
});
