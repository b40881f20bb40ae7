import assert from 'node:assert/strict';
import { asksForJson, errorDocument, errorLines } from '../../src/cli/error-text.ts';
import { toFault } from '../../src/cli/faults.ts';
import { command } from '../../src/kernel/argv.ts';
import { Fault } from '../../src/kernel/fault.ts';
import { ApiFailure } from '../../src/kernel/ports.ts';
import { commandBench, fakeStage } from '../support/command-bench.ts';

const failed = { command: 'apply', flags: ['context', 'dry-run'] };

describe('errors', () => {
  it('keep a fault as it is', () => {
    const fault = new Fault('locked', 'held', ['wait']);
    assert.equal(toFault(fault, failed), fault);
    assert.deepEqual(errorLines(fault), ['error: held', 'wait']);
  });

  it('name the reason of the API server', () => {
    assert.equal(toFault(new ApiFailure(403, 'Forbidden', 'may not'), failed).message, 'Error from server (Forbidden): may not');
    assert.equal(toFault(new ApiFailure(0, '', 'refused'), failed).message, 'no answer from the API server: refused');
  });

  it('exit 1 for a defect', () => assert.equal(toFault(new TypeError('x is undefined'), failed).code, 'failed'));

  it('are a small document for machines', () => {
    assert.deepEqual(JSON.parse(JSON.stringify(errorDocument(new Fault('usage', 'no', ['so'])))), {
      apiVersion: 'output.netsvc-upgrade/v1',
      kind: 'Error',
      error: { code: 'usage', exit: 64, message: 'no', next: ['so'], steps: [{ kind: 'do', text: 'so' }] },
    });
  });

  it('have the next command as data, where one is said', () => {
    const next = command`kubectl netsvc-upgrade status`;
    const { error } = errorDocument(new Fault('usage', 'no', ['so'], undefined, { next }));
    const words = ['kubectl', 'netsvc-upgrade', 'status'];
    assert.deepEqual(JSON.parse(JSON.stringify(error.nextStep)), { kind: 'do', text: words.join(' '), command: words });
  });

  const json: readonly (readonly [string, boolean])[] = [
    ['apply -o json --bad', true],
    ['apply -ojson', true],
    ['apply --output=json', true],
    ['apply --output json', true],
    ['apply -o yaml', false],
    ['apply -o json -o table', false],
    ['apply -- -o json', false],
    ['apply', false],
  ];
  for (const [line, expected] of json) {
    it(`are ${expected ? '' : 'not '}JSON for "${line}"`, () => assert.equal(asksForJson(line.split(' ')), expected));
  }
});

describe('a wrong command line', () => {
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [
      ['preflight', '--contxt=a'],
      /^error: unknown flag --contxt\ndid you mean --context\?\nNext: kubectl netsvc-upgrade preflight --help\n$/,
    ],
    [
      ['verify', '--with-secrets'],
      /^error: verify has no flag --with-secrets\nit is a flag of plan, run, commit, rollback, backup\nNext: kubectl netsvc-upgrade verify --help\n$/,
    ],
    [['preflight', '--json'], /^error: unknown flag --json\nwrite -o json\n/],
    [['preflight', '-o', 'jsn'], /^error: expected --output=jsn to be one of: table, wide/],
    [['preflight', '-o', 'jsn'], /\ndid you mean --output=json\?\nNext: /],
    [['run', '--skip=verfy'], /^error: expected --skip=verfy to be one of: .*\ndid you mean --skip=verify\?\n/],
    [
      ['preflight', '--report-file=no/such/folder/a.json'],
      /^error: --report-file no\/such\/folder\/a\.json: there is no folder no\/such\/folder\n/,
    ],
    [['plan', '--out=.'], /^error: --out \. is a folder\n/],
    [
      ['preflight', '-v'],
      /^error: flag --v expects a value\ngive a level: -v=1, or -v=6 for requests\nNext: kubectl netsvc-upgrade preflight --help\n$/,
    ],
    [
      ['preflight', '--read-only', '--probe-nodes=all'],
      /^error: --probe-nodes=all cannot also be provided when using --read-only\nNext: kubectl netsvc-upgrade preflight --help\n$/,
    ],
    [['permissions'], /^error: missing required flag --for\nNext: kubectl netsvc-upgrade permissions --help\n$/],
    [['preflight', 'extra'], /^error: unexpected argument: extra/],
    [['preflight', '--context'], /^error: flag --context expects a value/],
    [['apply', '--max-failed=-1'], /^error: --max-failed: expected an integer greater than or equal to 0 but received: -1\n/],
    [['apply', '--timeout=soon', '--yes'], /^error: --timeout=soon is not a time limit/],
    [['apply', '--accept=NS-0011'], /^error: --accept: there is no check NS-0011\ndid you mean NS-001\?/],
    [['explain', 'NS-9999'], /^error: explain: there is no check NS-9999\n.*\nNext: kubectl netsvc-upgrade explain\n$/],
    [['run', '--from=cli', '--through=crds'], /^error: no stage is left/],
  ];
  const chain = ['preflight', 'crds', 'apply', 'cli'].map((id) => fakeStage(id as 'apply'));
  for (const [argv, stderr] of cases) {
    it(`exits 64 for ${argv.join(' ')}`, async () => {
      const bench = commandBench(chain);
      assert.equal(await bench.run(...argv), 64);
      assert.match(bench.err(), stderr);
      assert.equal(bench.out(), '');
    });
  }

  it('stays below 1 kB of valid JSON under -o json', async () => {
    const bench = commandBench(chain);
    assert.equal(await bench.run('preflight', '-o', 'json', '--bad'), 64);
    assert.ok(bench.err().length < 1000);
    assert.equal((JSON.parse(bench.err()) as { error: { exit: number } }).error.exit, 64);
  });
});
