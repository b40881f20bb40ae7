import assert from 'node:assert/strict';
import { artifactOptionsOf } from '../../src/cli/compose.ts';
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
