import assert from 'node:assert/strict';
import { artifactOptionsOf } from '../../src/cli/artifact-options.ts';
import { connectionFlagsOf } from '../../src/cli/connection-flags.ts';
import { connectionFlags } from '../../src/cli/flags.ts';
import { interruptionOf } from '../../src/kernel/interruption.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';

const never = new AbortController().signal;
const interruption = interruptionOf(never, never);

describe('connection flags', () => {
  it('all reach the connection, but -n and the state namespace', () => {
    const values = Object.fromEntries(Object.keys(connectionFlags).map((name) => [name, `value of ${name}`]));
    const passed = Object.values(connectionFlagsOf(values)).sort();
    const expected = Object.keys(connectionFlags).filter((name) => !['namespace', 'state-namespace'].includes(name));
    assert.deepEqual(passed, expected.map((name) => `value of ${name}`).sort());
  });

  it('are left out when not given', () => assert.deepEqual(connectionFlagsOf({ context: 'a' }), { context: 'a' }));
});

describe('where the files of a release come from', () => {
  const profile = netsvc;
  const ca = (flags: object) => artifactOptionsOf({ flags, env: {}, trace: undefined, interruption }, profile).certificateAuthority;

  it('is trusted by its own authority, else by that of the API server, else by the system’s alone', () => {
    assert.equal(ca({ 'manifest-ca': 'mirror.crt', 'certificate-authority': 'cluster.crt' }), 'mirror.crt');
    assert.equal(ca({ 'certificate-authority': 'cluster.crt' }), 'cluster.crt');
    assert.equal(ca({}), undefined);
  });
});
