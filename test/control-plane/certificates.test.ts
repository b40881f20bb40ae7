import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { createAuthority, createKeyPair } from './certificates.ts';
import { integer, oid } from './der.ts';

describe('test certificates', () => {
  const authority = createAuthority('test-authority');
  const root = new X509Certificate(authority.certificate);

  it('have an authority that signs itself and may sign others', () => {
    assert.equal(root.ca, true);
    assert.equal(root.verify(root.publicKey), true);
  });

  it('name the groups of a client in O and itself in CN', () => {
    const admin = new X509Certificate(authority.issue({ commonName: 'admin', organization: 'system:masters' }).certificate);
    assert.deepEqual(admin.subject.split('\n').sort(), ['CN=admin', 'O=system:masters']);
    assert.deepEqual([admin.ca, admin.checkIssued(root), admin.verify(root.publicKey)], [false, true, true]);
    assert.deepEqual(admin.keyUsage, ['1.3.6.1.5.5.7.3.2']);
  });

  it('let a server be called by address and by name', () => {
    const server = new X509Certificate(
      authority.issue({ commonName: 'server', hosts: ['127.0.0.1', 'localhost', '10.96.0.1'] }).certificate,
    );
    assert.equal(server.checkIP('10.96.0.1'), '10.96.0.1');
    assert.equal(server.checkHost('localhost'), 'localhost');
    assert.equal(server.checkIP('10.96.0.2'), undefined);
    assert.deepEqual([...(server.keyUsage ?? [])].sort(), ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
  });

  it('belong to the key that comes with them', () => {
    const { certificate, key } = authority.issue({ commonName: 'any' });
    assert.equal(new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key)), true);
  });

  it('are valid now, and not for another authority', () => {
    const now = Date.now();
    assert.ok(Date.parse(root.validFrom) < now && Date.parse(root.validTo) > now);
    const other = new X509Certificate(createAuthority('test-authority').certificate);
    assert.equal(root.verify(other.publicKey), false);
  });

  it('come with bare key pairs for tokens', () => {
    const { publicKey, key } = createKeyPair();
    assert.equal(createPublicKey(createPrivateKey(key)).export({ type: 'spki', format: 'pem' }), publicKey);
  });

  const encoded: readonly [string, Buffer, string][] = [
    ['an integer with its highest bit set', integer(Buffer.from([0x80])), '02020080'],
    ['an integer', integer(Buffer.from([0x7f])), '02017f'],
    ['an object identifier with long arcs', oid('1.2.840.10045.4.3.2'), '06082a8648ce3d040302'],
  ];
  for (const [what, actual, expected] of encoded) it(`are of DER: ${what}`, () => assert.equal(actual.toString('hex'), expected));
});
