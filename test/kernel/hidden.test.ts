import assert from 'node:assert/strict';
import fc from 'fast-check';
import { withoutCredentials } from '../../src/kernel/hidden.ts';

describe('a text that leaves this machine', () => {
  for (const [text, kept] of [
    ['run --manifest-url=https://alice:geheim@mirror.example/x', 'run --manifest-url=https://(hidden)@mirror.example/x'],
    ['next: https://alice:ge@h:eim@mirror.example/x,', 'next: https://(hidden)@mirror.example/x,'],
    ['fetched https://token@mirror.example', 'fetched https://(hidden)@mirror.example'],
    ['Authorization: Bearer geheim.geheim-geheim==', 'Authorization: Bearer (hidden)'],
    ['token eyJhbGciOi.eyJzdWIiOi.c2ln-nature was refused', 'token (hidden) was refused'],
    ['https://10.0.0.1:6443/api?watch=a@b', 'https://10.0.0.1:6443/api?watch=a@b'],
    ['registry.example.org/netsvc/node@sha256:abc by alice@host', 'registry.example.org/netsvc/node@sha256:abc by alice@host'],
    ['Basic rules stay', 'Basic rules stay'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----, then', '(hidden), then'],
    ['-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----', '-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----'],
  ] as const)
    it(`“${text}” is “${kept}”`, () => assert.equal(withoutCredentials(text), kept));

  it('is still JSON where it was', () => {
    const word = fc.oneof(
      fc.string(),
      fc.constantFrom('https://a:b@c', 'https://"@', 'Bearer abcdefgh"', 'eyJabcdef.eyJabcdef.', '-----BEGIN PRIVATE KEY-----'),
    );
    fc.assert(fc.property(fc.dictionary(word, fc.array(word)), (value) => void JSON.parse(withoutCredentials(JSON.stringify(value)))));
  });
});
