import assert from 'node:assert/strict';
import { connectionFlagsOf } from '../../src/cli/connection-flags.ts';
import { connectionFlags } from '../../src/cli/flags.ts';

describe('connection flags', () => {
  it('all reach the connection, but -n and the state namespace', () => {
    const values = Object.fromEntries(Object.keys(connectionFlags).map((name) => [name, `value of ${name}`]));
    const passed = Object.values(connectionFlagsOf(values)).sort();
    const expected = Object.keys(connectionFlags).filter((name) => !['namespace', 'state-namespace'].includes(name));
    assert.deepEqual(passed, expected.map((name) => `value of ${name}`).sort());
  });

  it('are left out when not given', () => assert.deepEqual(connectionFlagsOf({ context: 'a' }), { context: 'a' }));
});
