import assert from 'node:assert/strict';
import type { StatusDocument } from '../../src/cli/documents.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { upgraded } from '../support/hep-sandbox.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';

/** What `status` tells of a stage that was performed alone, and taken back. */
describe('a part in status', function () {
  this.timeout(60_000);
  let scenario: Scenario;
  beforeEach(async () => {
    scenario = await upgraded(2);
    await performed('hep --yes');
  });

  async function performed(typed: string) {
    const bench = sandboxCommand(scenario);
    const exit = await bench.run(...typed.split(' '));
    assert.equal(exit, 0, bench.out() + bench.err());
    return bench.out();
  }
  const rowOf = (said: string) => /^hep +(\S+)/m.exec(said)?.[1];

  it('is of the release that is installed', async () => {
    const said = await performed('status');
    assert.doesNotMatch(said, /unknown release/);
    const { record } = JSON.parse(await performed('status -o json')) as StatusDocument;
    assert.deepEqual([record?.path, record?.intent.from], ['manifest', record?.intent.to]);
  });

  it('is offered to be undone until it was', async () => {
    const before = await performed('status');
    assert.match(before, /^undo: possible: kubectl netsvc-upgrade hep --undo$/m);
    assert.equal(rowOf(before), 'done');
    await performed('hep --undo --yes');
    const undone = await performed('status');
    assert.doesNotMatch(undone, /hep --undo/);
    assert.equal(rowOf(undone), 'undone');
    assert.equal(rowOf(await performed('report')), 'undone');
    await performed('hep --yes');
    const again = await performed('status');
    assert.match(again, /^undo: possible: kubectl netsvc-upgrade hep --undo$/m);
    assert.equal(rowOf(again), 'done');
  });
});
