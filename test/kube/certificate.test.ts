import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readCertificate } from '../../src/kube/certificate.ts';
import { legacyPem, ownPem } from '../fixtures/certificates.ts';

describe('reading a certificate', () => {
  for (const [title, pem] of [
    ['with a time of two digits', ownPem],
    ['with a time of four digits', legacyPem],
  ] as const)
    it(`says of one ${title} what Node.js says`, () => {
      const expected = new X509Certificate(pem);
      const found = readCertificate(pem);
      assert.equal(found?.issuer, expected.issuer.replace('CN=', ''));
      assert.equal(found?.until, Date.parse(expected.validTo));
      assert.deepEqual(
        found?.names,
        expected.subjectAltName?.split(', ').flatMap((name) => (name.startsWith('DNS:') ? [name.slice(4)] : [])),
      );
    });

  it('takes the first of several', () => {
    assert.equal(readCertificate(`text before\n${ownPem}\n${legacyPem}\n`)?.issuer, 'Example CA');
  });

  for (const [title, text] of [
    ['nothing', ''],
    ['a key', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----'],
    ['a block that is no certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'],
    ['a certificate that was cut', ownPem.replace(/.{120}\n-----END/s, '\n-----END')],
    ['lengths that lead beyond the end', `-----BEGIN CERTIFICATE-----\n${btoa('\x30\x84\xff\xff\xff\xff')}\n-----END CERTIFICATE-----`],
  ] as const)
    it(`finds none in ${title}`, () => {
      assert.equal(readCertificate(text), undefined);
    });
});
