import assert from 'node:assert/strict';
import { artifactOptionsOf, compose } from '../../src/cli/compose.ts';
import { interruptionOf } from '../../src/kernel/interruption.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';

const never = new AbortController().signal;
const interruption = interruptionOf(never, never);

describe('where the files of a release come from', () => {
  const profile = netsvc;
  const ca = (flags: object) => artifactOptionsOf({ flags, env: {}, trace: undefined, interruption }, profile).certificateAuthority;

  it('is trusted by its own authority, else by that of the API server, else by the system’s alone', () => {
    assert.equal(ca({ 'manifest-ca': 'mirror.crt', 'certificate-authority': 'cluster.crt' }), 'mirror.crt');
    assert.equal(ca({ 'certificate-authority': 'cluster.crt' }), 'cluster.crt');
    assert.equal(ca({}), undefined);
  });
});

describe('a folder of --bin-dir that is not there', () => {
  it('is refused before a cluster is asked: the stage that needs it may come with a later command', async () => {
    // Nobody listens there.
    const flags = { server: 'https://127.0.0.1:1', 'bin-dir': '/nowhere' };
    const env = { ...process.env, KUBECONFIG: '/dev/null' };
    await assert.rejects(compose({ flags, env, interruption, interactive: false, warn: () => undefined }, '0'), {
      code: 'usage',
      message: '--bin-dir /nowhere is not a folder',
    });
  });
});
