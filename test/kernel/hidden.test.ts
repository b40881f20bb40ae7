import assert from 'node:assert/strict';
import fc from 'fast-check';
import { mask, maskAt, maskValue } from '../../src/kernel/hidden.ts';

const body = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC';
const key = (kind: string) => `-----BEGIN ${kind}PRIVATE KEY-----\n${body}\n${body}\n-----END ${kind}PRIVATE KEY-----`;

describe('the masker of texts', () => {
  for (const [text, kept] of [
    ['run --manifest-url=https://alice:geheim@mirror.example/x', 'run --manifest-url=https://(hidden)@mirror.example/x'],
    ['next: https://alice:ge@h:eim@mirror.example/x,', 'next: https://(hidden)@mirror.example/x,'],
    ['fetched https://token@mirror.example', 'fetched https://(hidden)@mirror.example'],
    ['Authorization: Bearer geheim.geheim-geheim==', 'Authorization: Bearer (hidden)'],
    ['authorization: bearer geheim', 'authorization: bearer (hidden)'],
    ['bearer geheim1x was refused', 'bearer (hidden) was refused'],
    ['token eyJhbGciOi.eyJzdWIiOi.c2ln-nature was refused', 'token (hidden) was refused'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----, then', '(hidden), then'],
    [`before\n${key('RSA ')}\nafter`, 'before\n(hidden)\nafter'],
    [key(''), '(hidden)'],
    [`a line: 1\n${body}\n-----END EC PRIVATE KEY-----`, 'a line: 1\n(hidden)'],
    [`${body}\n${body}\n-----END EC PRIVATE KEY-----\nafter`, '(hidden)\nafter'],
    [`x: ${Buffer.from(key('')).toString('base64')} y`, 'x: (hidden) y'],
    ['ETCD_PASSWORD=geheim next', 'ETCD_PASSWORD=(hidden) next'],
    ['{"password":"geheim","user":"a"}', '{"password":"(hidden)","user":"a"}'],
    ['"x": "{\\"password\\":\\"ge\\\\\\"heim\\",\\"user\\":1}"', '"x": "{\\"password\\":\\"(hidden)\\",\\"user\\":1}"'],
    ['clientSecret: "ge heim"', 'clientSecret: "(hidden)"'],
    ['{"passwords":["ge", "heim"],"tokens":[]}', '{"passwords":["(hidden)", "(hidden)"],"tokens":[]}'],
    [`--password='ge"heim' more`, `--password='(hidden)' more`],
    ['calico --token geheim --v=2', 'calico --token (hidden) --v=2'],
    ['"args": ["--token", "ge heim", "--v=2"]', '"args": ["--token", "(hidden)", "--v=2"]'],
    [`["--db-password",\n  "geheim"]`, `["--db-password",\n  "(hidden)"]`],
    [String.raw`{\"args\":[\"--token\",\"geheim\"]}`, String.raw`{\"args\":[\"--token\",\"(hidden)\"]}`],
    ['args:\n  - --token\n  - geheim\n  - --v=2', 'args:\n  - --token\n  - (hidden)\n  - --v=2'],
    [`- "--api-key"\n- 'geheim'`, `- "--api-key"\n- '(hidden)'`],
    ['dial https://user:geheim@etcd:2379', 'dial https://(hidden)@etcd:2379'],
    ['the password "ge heim" is wrong', 'the password "(hidden)" is wrong'],
    ['spec.env[FELIX_X_PASSWORD].value: ge → heim', 'spec.env[FELIX_X_PASSWORD].value: (hidden) → (hidden)'],
    ['spec.env[FELIX_X_PASSWORD].value: + geheim', 'spec.env[FELIX_X_PASSWORD].value: + (hidden)'],
    ['- name: DB_PWD\n  value: geheim\n- name: X', '- name: DB_PWD\n  value: (hidden)\n- name: X'],
    ['{"name":"DB_PWD","value":"geheim"}', '{"name":"DB_PWD","value":"(hidden)"}'],
  ] as const)
    it(`hides what “${text.replaceAll('\n', '⏎').slice(0, 60)}” holds`, () => {
      assert.equal(mask(text), kept);
      assert.equal(mask(kept), kept, 'what is masked once stays so');
    });

  for (const text of [
    'https://10.0.0.1:6443/api?watch=a@b',
    'registry.example.org/netsvc/node@sha256:abc by alice@host',
    'Basic rules stay, and bearer authentication does',
    '-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----',
    'secret "etcd" not found',
    'the token expired',
    'PWD=/root OLDPWD=/tmp BYPASS=on',
    'automountServiceAccountToken: false',
    'imagePullSecrets: regcred, tokens: 3',
    'password: null → false',
  ])
    it(`leaves “${text.replaceAll('\n', '⏎').slice(0, 60)}” as it is`, () => assert.equal(mask(text), text));

  it('leaves JSON valid', () => {
    const word = fc.oneof(
      fc.string(),
      ...['https://a:b@c', 'https://"@', 'Bearer abcdefgh"', 'eyJabcdef.eyJabcdef.', '-----BEGIN PRIVATE KEY-----', 'a_token'].map(
        fc.constant,
      ),
      fc.string().map((text) => `password=${text}`),
      fc.string().map((text) => JSON.stringify({ token: text })),
    );
    const values = fc.dictionary(word, fc.oneof(word, fc.array(word)));
    fc.assert(
      fc.property(values, (value) => void JSON.parse(mask(JSON.stringify(value)))),
      { numRuns: 500 },
    );
  });
});

describe('the masker of data', () => {
  it('hides values by the names of fields and of variables, and leaves references to Secrets', () => {
    const env = [
      { name: 'ETCD_PASSWORD', value: 'geheim' },
      { name: 'DATASTORE_TYPE', value: 'kubernetes' },
      { name: 'API_TOKEN', valueFrom: { secretKeyRef: { name: 'tokens', key: 'api' } } },
    ];
    const volumes = [{ name: 'certs', secret: { secretName: 'etcd-certs' } }];
    const rest = { volumes, imagePullSecrets: [{ name: 'regcred' }], tokens: 3 };
    assert.deepEqual(maskValue({ apiKey: 'geheim', passwords: ['ge', 'heim'], env, args: ['--password=geheim'], ...rest }), {
      apiKey: '(hidden)',
      passwords: ['(hidden)', '(hidden)'],
      env: [{ name: 'ETCD_PASSWORD', value: '(hidden)' }, ...env.slice(1)],
      args: ['--password=(hidden)'],
      ...rest,
    });
  });

  it('hides both sides of a change by the path of its field', () => {
    const change = (path: string) => maskValue({ path, before: 'ge', after: 'heim' });
    for (const path of [
      'spec.containers[node].env[X_PWD].value',
      'data.password',
      'metadata.annotations["a.b/api-token"]',
      'data[SECRET_KEY]',
    ])
      assert.deepEqual(change(path), { path, before: '(hidden)', after: '(hidden)' });
    for (const path of ['spec.volumes[etcd-secrets].secret.secretName', 'spec.env[X_TOKEN].valueFrom.secretKeyRef.name', 'data.tokenFile'])
      assert.deepEqual(change(path), { path, before: 'ge', after: 'heim' });
    assert.deepEqual(maskAt('data.password', 'geheim'), '(hidden)');
  });

  it('hides the item of a list behind the flag that announces it', () => {
    const args = ['--db-token', 'geheim', '-password', 'geheim', '--use-credentials', '--v', '2', '--token-file', '/etc/x', '--secret', 7];
    const kept = [
      '--db-token',
      '(hidden)',
      '-password',
      '(hidden)',
      '--use-credentials',
      '--v',
      '2',
      '--token-file',
      '/etc/x',
      '--secret',
      7,
    ];
    assert.deepEqual(maskValue({ args }), { args: kept });
    assert.deepEqual(maskValue(JSON.stringify(args)), JSON.stringify(kept));
  });

  it('reads texts that are JSON', () => {
    const text = JSON.stringify({ plugins: [{ etcd: { client_secret: 'ge,heim' }, mtu: 1440 }] }, undefined, 2);
    assert.deepEqual(maskValue({ text }), { text: '{"plugins":[{"etcd":{"client_secret":"(hidden)"},"mtu":1440}]}' });
    const harmless = '{ "mtu": 1440 }';
    assert.deepEqual(maskValue({ harmless }), { harmless });
  });
});
