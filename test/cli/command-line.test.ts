import assert from 'node:assert/strict';
import { forPrograms, twinOf, wordsOf, writtenBoolean } from '../../src/cli/command-line.ts';
import { flagsIn } from '../../src/cli/complete-live.ts';
import type { FlagShape } from '../../src/cli/plain-flags.ts';
import { Fault } from '../../src/kernel/fault.ts';
import { applies, commandBench, fakeStage } from '../support/command-bench.ts';

const flags: Readonly<Record<string, FlagShape>> = {
  context: { type: 'option' },
  'as-group': { type: 'option', multiple: true },
  output: { type: 'option', char: 'o' },
  yes: { type: 'boolean', char: 'y' },
  quiet: { type: 'boolean', char: 'q' },
  'insecure-skip-tls-verify': { type: 'boolean' },
};

describe('booleans in kubectl’s syntax', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['--yes=true', '--yes'],
    ['--insecure-skip-tls-verify=TRUE -o json', '--insecure-skip-tls-verify -o json'],
    ['--insecure-skip-tls-verify=false', ''],
    ['-y=true -q=false', '-y'],
    ['--yes --yes=false', ''],
    ['-y --quiet --yes=false', '--quiet'],
    ['-qy --yes=false', '-q'],
    ['--yes=false --yes', '--yes'],
    ['file --context=a=b', 'file --context=a=b'],
    ['--context --yes=false', '--context --yes=false'],
    ['-o -y --yes=false', '-o -y'],
    ['--yes -- --yes=false', '--yes -- --yes=false'],
    ['--unknown=true -ojson', '--unknown=true -ojson'],
    ['--constructor=true', '--constructor=true'],
  ];
  for (const [written, parsed] of cases)
    it(`reads ${written} as ${parsed || 'nothing'}`, () => assert.equal(wordsOf(written.split(' '), flags, {}).join(' '), parsed));

  for (const word of ['--yes=maybe', '--yes=', '-y=2'])
    it(`refuses ${word}`, () =>
      assert.throws(
        () => wordsOf([word], flags, {}),
        (thrown) => thrown instanceof Fault && thrown.code === 'usage' && /is neither true nor false$/.test(thrown.message),
      ));

  it('says what the last word about a flag is', () => {
    assert.equal(writtenBoolean(['--yes', '-y=false'], 'yes', flags), false);
    assert.equal(writtenBoolean(['--yes=false', '--yes'], 'yes', flags), true);
    assert.equal(writtenBoolean(['--', '--yes'], 'yes', flags), undefined);
  });
});

describe('a command with booleans in kubectl’s syntax', () => {
  const bench = (env: Readonly<Record<string, string>> = {}) => commandBench([fakeStage('apply', { plan: applies('upgrade.yaml') })], env);

  it('takes =true', async () => {
    const run = bench();
    assert.equal(await run.run('apply', '--yes=true', '--quiet=true', '--insecure-skip-tls-verify=true'), 0, run.err());
    assert.equal(run.requests[0]?.flags['insecure-skip-tls-verify'], true);
    assert.match(run.out(), /Next: kubectl netsvc-upgrade wait --insecure-skip-tls-verify\n$/);
  });

  it('changes nothing with --yes=false, whatever the environment says', async () => {
    const run = bench({ NETSVC_UPGRADE_YES: 'true' });
    assert.equal(await run.run('apply', '--yes=false'), 64);
    assert.deepEqual(run.engine.calls, []);
    assert.match(run.err(), /--yes is not given/);
  });

  it('carries what was switched off to the next command, which reads the same environment', async () => {
    const run = bench({ NETSVC_UPGRADE_INSECURE_SKIP_TLS_VERIFY: 'true' });
    assert.equal(await run.run('apply', '-y', '--insecure-skip-tls-verify=false'), 0, run.err());
    assert.equal(run.requests[0]?.flags['insecure-skip-tls-verify'], undefined);
    assert.match(run.out(), /Next: kubectl netsvc-upgrade wait --insecure-skip-tls-verify=false\n$/);
  });

  it('does not look at what the environment says of a flag that the command line sets', async () => {
    const run = bench({ NETSVC_UPGRADE_NO_PROGRESS: 'json' });
    assert.equal(await run.run('apply', '-y', '--no-progress=false'), 0, run.err());
    assert.equal(await run.run('apply', '-y'), 64, 'it is looked at where nothing sets the flag');
  });

  it('is a usage error with another value, and says what to write', async () => {
    const run = bench();
    assert.equal(await run.run('apply', '--yes=maybe'), 64);
    const help = 'Next: kubectl netsvc-upgrade apply --help';
    assert.equal(run.err(), `error: --yes=maybe is neither true nor false\nwrite --yes, or --yes=false to switch it off\n${help}\n`);
  });
});

describe('completion with booleans in kubectl’s syntax', () => {
  const name = 'insecure-skip-tls-verify';
  const table = { commands: { status: { about: '', flags: [{ name, about: '', takesValue: false }] } } };
  const found = (...before: string[]) =>
    flagsIn({ command: 'status', before, names: 'nodes', prefix: '', start: '' }, table, { NETSVC_UPGRADE_INSECURE_SKIP_TLS_VERIFY: '1' });

  it('looks names up as the command would', () => {
    assert.deepEqual(found(), { [name]: true });
    assert.deepEqual(found(`--${name}=true`), { [name]: true });
    assert.deepEqual(found(`--${name}=false`), {});
  });
});

describe('environment twins', () => {
  it('are named after the flag', () => assert.equal(twinOf('as-group'), 'NETSVC_UPGRADE_AS_GROUP'));

  it('come before argv, lists split at commas', () => {
    const env = { NETSVC_UPGRADE_CONTEXT: 'a b', NETSVC_UPGRADE_AS_GROUP: 'x,y', NETSVC_UPGRADE_YES: 'true' };
    assert.deepEqual(wordsOf(['file'], flags, env), ['--context=a b', '--as-group=x', '--as-group=y', '--yes', 'file']);
  });

  for (const argv of [['--output', 'json'], ['--output=json'], ['-o', 'json'], ['-ojson']]) {
    it(`yield to ${argv.join(' ')}`, () => {
      assert.deepEqual(wordsOf(argv, flags, { NETSVC_UPGRADE_OUTPUT: 'yaml' }), argv);
    });
  }

  it('do not yield to words after --', () => {
    assert.deepEqual(wordsOf(['--', '--yes'], flags, { NETSVC_UPGRADE_YES: '1' }), ['--yes', '--', '--yes']);
  });

  it('switch a boolean off, and refuse what is neither', () => {
    assert.deepEqual(wordsOf([], flags, { NETSVC_UPGRADE_YES: 'false' }), []);
    assert.throws(() => wordsOf([], flags, { NETSVC_UPGRADE_YES: 'maybe' }), Fault);
  });

  it('are not there when empty', () => assert.deepEqual(wordsOf([], flags, { NETSVC_UPGRADE_CONTEXT: '' }), []));
});

describe('the environment of other programs', () => {
  it('has no credential that is meant for this one', () => {
    const env = { NETSVC_UPGRADE_TOKEN: 't', netsvc_upgrade_notify: 'https://hooks.example/secret', NETSVC_UPGRADE_CONTEXT: 'prod' };
    assert.deepEqual(forPrograms(env), { NETSVC_UPGRADE_CONTEXT: 'prod' });
  });
});
