import assert from 'node:assert/strict';
import { calledAs, OWN_NAME } from '../../src/kernel/own-name.ts';
import type { StepDocument } from '../../src/kernel/step.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';

interface Document {
  readonly next: string;
  readonly nextStep: StepDocument;
  readonly digest: string;
}

const started = process.env.NETSVC_ARGV0;
const startedAs = (name: string) => (process.env.NETSVC_ARGV0 = name);

describe('called as netsvcctl upgrade', () => {
  let scenario: Awaited<ReturnType<typeof installedSandbox>>;
  beforeEach(async () => {
    startedAs('netsvcctl-upgrade');
    scenario = await installedSandbox();
  });
  afterEach(() => {
    if (started === undefined) delete process.env.NETSVC_ARGV0;
    else startedAs(started);
    calledAs(OWN_NAME);
  });

  async function printed(line: string): Promise<string> {
    const bench = sandboxCommand(scenario);
    await bench.run(...line.split(' '));
    return bench.out() + bench.err();
  }
  const document = async (line: string) => JSON.parse(await printed(`${line} -o json`)) as Document;

  for (const line of ['preflight', 'plan', 'run --dry-run=client', 'status'])
    it(`${line} -o json has one and the same command as text and as data`, async () => {
      const { next, nextStep } = await document(line);
      assert.match(next, /^netsvcctl upgrade /);
      assert.equal(nextStep.command?.join(' '), next);
    });

  for (const line of ['preflight', 'plan', 'plan -o json', 'run --accept NS-9999', 'run --accept NS-9999 -o json', 'run --yes'])
    it(`${line} says no other name`, async () => {
      const text = await printed(line);
      assert.match(text, /netsvcctl upgrade /);
      assert.deepEqual(
        text.split('\n').filter((one) => one.includes(OWN_NAME)),
        [],
      );
    });

  it('a plan is the same as by the other name', async () => {
    const { digest } = await document('plan');
    startedAs('kubectl-netsvc_upgrade');
    assert.equal((await document('plan')).digest, digest);
  });
});
