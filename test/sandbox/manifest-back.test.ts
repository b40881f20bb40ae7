import assert from 'node:assert/strict';
import { back, describeKilledBack, installed, stateOf, upgraded } from '../support/describe-manifest-back.ts';
import { assertDone, isRead } from '../support/owner-faults.ts';
import { storedNames } from '../support/rolled-back.ts';
import { sandboxPorts } from '../support/sandbox-ports.ts';
import { seedOf } from '../support/seed.ts';
import { NETSVC_TARGET } from '../support/target.ts';

describe('going back on the manifest path, on the sandbox', function () {
  this.timeout(600_000);

  it('gives every object its former state; again, it writes nothing', async () => {
    const scenario = await installed();
    const before = stateOf(scenario);
    await upgraded(scenario);
    assertDone((await back(scenario)).outcome, 'rollback');
    assert.deepEqual([stateOf(scenario), storedNames(scenario)], [before, ['default.web']]);
    const again = await back(scenario);
    assertDone(again.outcome, 'again');
    assert.deepEqual(
      again.requests.filter((what) => !isRead(what) && !/^(record|keep|append|watch)/.test(what)),
      [],
    );
  });

  it('takes back an upgrade behind which a stage was performed alone', async () => {
    const scenario = await installed();
    const before = stateOf(scenario);
    await upgraded(scenario);
    const { records } = sandboxPorts(scenario);
    const upgrade = (await records.load()) ?? assert.fail();
    const { finishedAt: _, ...open } = upgrade;
    const intent = { kind: 'upgrade', to: NETSVC_TARGET, from: NETSVC_TARGET } as const;
    await records.append([{ id: `${upgrade.runId}/record`, content: upgrade }]);
    await records.save({ ...open, intent, runId: upgrade.runId.replace(/^\d/, '9'), wrote: ['hep'], kept: [] });
    assertDone((await back(scenario)).outcome, 'rollback');
    assert.deepEqual(stateOf(scenario), before);
  });
});

describeKilledBack({ others: 8, seed: seedOf(process.env, 49) });
