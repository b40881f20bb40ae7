import assert from 'node:assert/strict';
import { forPrograms } from '../../src/cli/command-line.ts';
import { applies, commandBench, fakeStage } from '../support/command-bench.ts';

describe('the environment of other programs', () => {
  it('has no credential that is meant for this one', () => {
    const env = { NETSVC_UPGRADE_TOKEN: 't', netsvc_upgrade_notify: 'https://hooks.example/secret', KUBECONFIG: 'prod' };
    assert.deepEqual(forPrograms(env), { KUBECONFIG: 'prod' });
  });
});

describe('variables in the place of flags', () => {
  const bench = () => commandBench([fakeStage('apply', { plan: applies('upgrade.yaml') })]);
  const kept = { ...process.env };
  afterEach(() => {
    process.env = { ...kept };
  });

  it('are those of credentials, and of where artifacts come from', async () => {
    Object.assign(process.env, { NETSVC_UPGRADE_TOKEN: 'geheim', NETSVC_UPGRADE_MANIFEST_URL: '/mirror', NETSVC_UPGRADE_CONTEXT: 'other' });
    const run = bench();
    assert.equal(await run.run('apply', '--yes'), 0, run.err());
    const { token, context, 'manifest-url': source } = run.requests[0]?.flags ?? {};
    assert.deepEqual([token, source, context], ['geheim', '/mirror', undefined]);
    assert.match(run.out(), /Next: kubectl netsvc-upgrade wait --manifest-url=\/mirror\n$/);
  });

  it('yield to the flag', async () => {
    process.env.NETSVC_UPGRADE_MANIFEST_URL = '/mirror';
    const run = bench();
    assert.equal(await run.run('apply', '--yes', '--manifest-url=/other'), 0, run.err());
    assert.equal(run.requests[0]?.flags['manifest-url'], '/other');
  });
});
