import assert from 'node:assert/strict';
import { type FlagShape, forPrograms, twinOf, withEnvironment } from '../../src/cli/environment.ts';
import { Fault } from '../../src/kernel/fault.ts';

const flags: Readonly<Record<string, FlagShape>> = {
  context: { type: 'option' },
  'as-group': { type: 'option', multiple: true },
  output: { type: 'option', char: 'o' },
  yes: { type: 'boolean', char: 'y' },
};

describe('environment twins', () => {
  it('are named after the flag', () => assert.equal(twinOf('as-group'), 'NETSVC_UPGRADE_AS_GROUP'));

  it('come before argv, lists split at commas', () => {
    const env = { NETSVC_UPGRADE_CONTEXT: 'a b', NETSVC_UPGRADE_AS_GROUP: 'x,y', NETSVC_UPGRADE_YES: 'true' };
    assert.deepEqual(withEnvironment(['file'], flags, env), ['--context=a b', '--as-group=x', '--as-group=y', '--yes', 'file']);
  });

  for (const argv of [['--output', 'json'], ['--output=json'], ['-o', 'json'], ['-ojson']]) {
    it(`yield to ${argv.join(' ')}`, () => {
      assert.deepEqual(withEnvironment(argv, flags, { NETSVC_UPGRADE_OUTPUT: 'yaml' }), argv);
    });
  }

  it('do not yield to words after --', () => {
    assert.deepEqual(withEnvironment(['--', '--yes'], flags, { NETSVC_UPGRADE_YES: '1' }), ['--yes', '--', '--yes']);
  });

  it('switch a boolean off, and refuse what is neither', () => {
    assert.deepEqual(withEnvironment([], flags, { NETSVC_UPGRADE_YES: 'false' }), []);
    assert.throws(() => withEnvironment([], flags, { NETSVC_UPGRADE_YES: 'maybe' }), Fault);
  });

  it('are not there when empty', () => assert.deepEqual(withEnvironment([], flags, { NETSVC_UPGRADE_CONTEXT: '' }), []));
});

describe('the environment of other programs', () => {
  it('has no credential that is meant for this one', () => {
    const env = { NETSVC_UPGRADE_TOKEN: 't', netsvc_upgrade_notify: 'https://hooks.example/secret', NETSVC_UPGRADE_CONTEXT: 'prod' };
    assert.deepEqual(forPrograms(env), { NETSVC_UPGRADE_CONTEXT: 'prod' });
  });
});
