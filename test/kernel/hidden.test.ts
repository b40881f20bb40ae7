import assert from 'node:assert/strict';
import fc from 'fast-check';
import { withoutCredentials, withoutHiddenValues } from '../../src/kernel/hidden.ts';

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

const body = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC';
const key = (kind: string) => `-----BEGIN ${kind}PRIVATE KEY-----\n${body}\n${body}\n-----END ${kind}PRIVATE KEY-----`;

describe('a text that somebody else reads', () => {
  for (const [text, kept] of [
    ['ETCD_PASSWORD=geheim next', 'ETCD_PASSWORD=(hidden) next'],
    ['{"password":"geheim","user":"a"}', '{"password":(hidden),"user":"a"}'],
    ['clientSecret: "ge heim"', 'clientSecret: (hidden)'],
    ['calico --token geheim --v=2', 'calico --token (hidden) --v=2'],
    ['Authorization: Bearer geheim.geheim', 'Authorization: Bearer (hidden)'],
    ['dial https://user:geheim@etcd:2379', 'dial https://(hidden)@etcd:2379'],
    [`before\n${key('RSA ')}\nafter`, 'before\n(hidden)\nafter'],
    [key(''), '(hidden)'],
    [`a line: 1\n${body}\n-----END EC PRIVATE KEY-----`, 'a line: 1\n(hidden)'],
    [`${body}\n${body}\n-----END EC PRIVATE KEY-----\nafter`, '(hidden)\nafter'],
    ['secret "etcd" not found', 'secret "etcd" not found'],
    ['the token expired', 'the token expired'],
  ] as const)
    it(`“${text.replaceAll('\n', '⏎').slice(0, 50)}” hides what it holds`, () => assert.equal(withoutHiddenValues(text), kept));

  for (const unit of [
    'x',
    '-',
    '-a',
    'A',
    'password',
    'abcdefgh ',
    'abcdefghi\n',
    '-----BEGIN PRIVATE KEY-----',
    '-----END PRIVATE KEY-----\n',
  ])
    it(`takes no longer for a long log of “${unit.trim()}”`, function () {
      // Linear it takes some milliseconds; where each character was a start of its own it took minutes.
      this.timeout(5000);
      assert.ok(withoutHiddenValues(unit.repeat((256 * 1024) / unit.length)).length > 0);
    });

  it('hides values by the names of fields and of variables, and leaves references to Secrets', () => {
    const env = [
      { name: 'ETCD_PASSWORD', value: 'geheim' },
      { name: 'DATASTORE_TYPE', value: 'kubernetes' },
      { name: 'API_TOKEN', valueFrom: { secretKeyRef: { name: 'tokens', key: 'api' } } },
    ];
    const volumes = [{ name: 'certs', secret: { secretName: 'etcd-certs' } }];
    const told = withoutHiddenValues({ apiKey: 'geheim', tokens: 3, env, volumes, args: ['--password=geheim'] });
    assert.deepEqual(told, {
      apiKey: '(hidden)',
      tokens: 3,
      env: [{ name: 'ETCD_PASSWORD', value: '(hidden)' }, ...env.slice(1)],
      volumes,
      args: ['--password=(hidden)'],
    });
  });
});
