import assert from 'node:assert/strict';
import { runCommand } from '@oclif/test';
import { sourceOptions } from '../support/run-oclif.ts';

const NAME = 'kubectl netsvc-upgrade';

/** The command in this process, as a person would call it: what it prints, and its exit code where it is not 0. */
async function call(line: string) {
  const { stdout, stderr, error } = await runCommand(line, sourceOptions());
  return { stdout, stderr, exit: error?.oclif?.exit ?? 0 };
}

describe('a command line', () => {
  it('prints data on stdout and nothing on stderr', async () => {
    const { stdout, stderr, exit } = await call('explain NS-606');
    assert.deepEqual([exit, stderr], [0, '']);
    assert.match(stdout, /NS-606/);
  });

  it('prints errors on stderr only: the fact, then the next step', async () => {
    const { stdout, stderr, exit } = await call('explain NS-999');
    assert.deepEqual([exit, stdout], [64, '']);
    assert.match(stderr, /^error: .*NS-999(?:.*\n)+Next: /);
  });

  it('names no file by the id of a check', async () => {
    for (const id of ['readme', '../readme', 'NS-1011']) assert.equal((await call(`explain ${id}`)).exit, 64, id);
  });

  it('suggests the flag that was meant', async () => {
    const { stderr, exit } = await call('preflight --contxt=x');
    assert.equal(exit, 64);
    assert.match(stderr, /--context/);
  });

  it('keeps arguments with spaces whole', async () => {
    const { stderr, exit } = await call('preflight --kubeconfig "/no such/file"');
    assert.notEqual(exit, 0);
    assert.match(stderr, /\/no such\/file/);
  });

  for (const line of ['--version', 'version'])
    it(`says its version: ${line}`, async () => assert.match((await call(line)).stdout, /^netsvc-upgrade v\d+\.\d+\.\d+\n$/));

  const help: readonly (readonly [string, RegExp])[] = [
    ['--help', /^ {2}preflight {4}Find out/m],
    ['-h', /^ {2}preflight {4}Find out/m],
    ['help', /^ {2}preflight {4}Find out/m],
    ['help plan', /^ {2}\$ kubectl netsvc-upgrade plan \[flags\]$/m],
    ['preflight -o json -h', /^ {2}\$ kubectl netsvc-upgrade preflight \[flags\]$/m],
  ];
  for (const [line, part] of help)
    it(`shows help: ${line}`, async () => {
      const { stdout, stderr, exit } = await call(line);
      assert.deepEqual([exit, stderr], [0, '']);
      assert.match(stdout, part);
      assert.doesNotMatch(stdout, /^ {2}help /m);
    });

  it('takes what stands after -- as no flag', async () => assert.equal((await call('preflight -- --help')).exit, 64));

  const refusals: readonly (readonly [string, string])[] = [
    ['prefligth', 'unknown command "prefligth"\ndid you mean: P preflight\nNext: P preflight --help\n'],
    ['help prefligth', 'unknown command "prefligth"\ndid you mean: P preflight\nNext: P preflight --help\n'],
    ['prefligth --help', 'unknown command "prefligth"\ndid you mean: P preflight\nNext: P preflight --help\n'],
    ['zzzzzzzz', 'unknown command "zzzzzzzz"\nNext: P --help\n'],
    ['constructor', 'unknown command "constructor"\nNext: P --help\n'],
    // Its value is not repeated.
    ['--token=geheim preflight', 'a flag must follow the command: --token\nput the command first: P COMMAND [flags]\nNext: P --help\n'],
    ['apply --yes=true', 'unexpected argument: true\nwrite a flag like --yes without a value\nNext: P apply --help\n'],
    ['apply -v', 'flag --v expects a value\ngive a level: -v=1, or -v=6 for requests\nNext: P apply --help\n'],
    ['apply more', 'unexpected argument: more\nNext: P apply --help\n'],
    ['apply --context a --context b', 'flag --context can only be specified once\nNext: P apply --help\n'],
  ];
  for (const [line, told] of refusals)
    it(`refuses "${line}" with 64`, async () => {
      const { stdout, stderr, exit } = await call(line);
      assert.deepEqual([exit, stdout], [64, '']);
      assert.equal(stderr, `error: ${told.replaceAll('P ', `${NAME} `)}`);
    });

  it('refuses in one line of JSON where that is asked for', async () => {
    for (const line of ['prefligth -o json', '--context x preflight -o json', 'apply --bogus -ojson']) {
      const { stdout, stderr, exit } = await call(line);
      assert.deepEqual([exit, stdout], [64, ''], line);
      assert.match(stderr, /^\{.*\}\n$/);
      assert.deepEqual([JSON.parse(stderr).kind, JSON.parse(stderr).error.exit], ['Error', 64]);
    }
  });
});
