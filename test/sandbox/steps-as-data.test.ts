import assert from 'node:assert/strict';
import type { PlanDocument, StatusDocument } from '../../src/cli/documents.ts';
import { OWN_NAME } from '../../src/kernel/own-name.ts';
import type { StepDocument } from '../../src/kernel/step.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';

type Steps = { readonly steps: readonly StepDocument[] };

describe('commands of a document as data', () => {
  let scenario: Awaited<ReturnType<typeof installedSandbox>>;
  beforeEach(async () => {
    scenario = await installedSandbox();
  });

  async function printed(line: string): Promise<string> {
    const bench = sandboxCommand(scenario);
    await bench.run(...line.split(' '));
    return bench.out();
  }

  it('are there of each manual step, with the flags of the connection', async () => {
    const plan = JSON.parse(await printed('plan --context=prod -o json')) as PlanDocument;
    const asks = plan.stages.flatMap(({ actions }) => actions.flatMap(({ effect }) => (effect.type === 'ask' ? [effect] : [])));
    assert.notEqual(asks.length, 0);
    for (const { instruction, next, steps } of asks as unknown as (Steps & { instruction: string; next?: string })[]) {
      assert.equal(steps[0]?.text, instruction);
      assert.equal(steps[1]?.text, next);
      const ours = steps.flatMap(({ command }) => (command?.[1] === 'netsvc-upgrade' ? [command] : []));
      for (const one of ours) assert.ok(one.includes('--context=prod'), one.join(' '));
    }
  });

  it('are there of all that status offers', async () => {
    await printed('crds --yes');
    await printed('apply --yes');
    const { steps, next } = JSON.parse(await printed('status -o json')) as Steps & StatusDocument;
    const said = (await printed('status')).split('\n').filter((line) => line.includes(OWN_NAME) && line !== `Next: ${next}`);
    assert.notEqual(said.length, 0);
    assert.deepEqual(
      said.filter((line) => !steps.some(({ text }) => line.endsWith(text))),
      [],
    );
    for (const { text, command } of steps) assert.ok(text.includes(command?.join(' ') ?? '-'), text);
  });
});
