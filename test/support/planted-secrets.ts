/** A credential in a place where text passes, and what must be seen of it nowhere. */
export interface Plant {
  readonly secret: string;
  readonly place: 'env' | 'annotation' | 'data' | 'text';
  /** Name of the variable, annotation or key. */
  readonly name: string;
  readonly value: string;
}

const VARIABLES =
  `DB_PASSWORD DB_PASSWORDS DB_PASSWD DB_PWD REDIS_PASS KEY_PASSPHRASE PASSCODE API_TOKEN API_TOKENS GITHUB_TOKEN authToken SECRET_KEY
  SECRET_KEYS AWS_SECRET_ACCESS_KEY AWS_ACCESS_KEY CLIENT_SECRET APP_SECRETS clientSecret ACCESS_KEY ACCESS_KEYS API_KEY API_KEYS APIKEY apiKey
  PRIVATE_KEY privateKey SIGNING_KEY ENCRYPTION_KEY MASTER_KEY SHARED_KEY AUTH_KEY ACCOUNT_KEY CREDENTIALS BGP_CREDENTIAL FELIX_X_PASSWORD
  ETCD_PASSWORD db-password db.password WG_PSK SMTP_PASSWD LDAP_BIND_PASSWORD KEYSTORE_PASSPHRASE oauth_client_secret refresh_token SESSION_SECRET
  HMAC_SECRET_KEY storage-account-key TLS_PRIVATE_KEY TLS_KEY_PASSWORD BASIC_AUTH_PASSWORD`.split(/\s+/);

const KEYS =
  `password passwords db_password passwd db_pwd passphrase token tokens api_token secret_key client_secret access_key api-key private-key
  client-key-data clientKeyData credentials credential psk auth_key`.split(/\s+/);

type Form = readonly [name: string, value: (key: string, secret: string) => string];

/** Texts of a ConfigMap under a name that says nothing, one for each key. */
const FORMS: readonly Form[] = [
  ['json.conf', (key, secret) => JSON.stringify({ plugins: [{ type: 'x', store: { [key]: secret, mtu: 1440 } }] }, undefined, 2)],
  ['escaped.conf', (key, secret) => JSON.stringify({ inner: JSON.stringify({ [key]: `${secret} "x"`, user: 'a' }) })],
  ['yaml.conf', (key, secret) => `store:\n  user: a\n  ${key}: ${secret}\n  mtu: 1440\n`],
  ['list.conf', (key, secret) => `{"${key}": ["${secret}", "x${secret}"], "user": "a"}`],
  ['flags.conf', (key, secret) => `--${key.replaceAll('_', '-')}=${secret} --user=a`],
  ['args.conf', (key, secret) => JSON.stringify({ args: [`--${key.replaceAll('_', '-')}`, secret, '--user', 'a'] })],
  ['args.yaml', (key, secret) => `args:\n- --${key.replaceAll('_', '-')}\n- ${secret}\n- --user=a\n`],
  ['shell.conf', (key, secret) => `export ${key.toUpperCase().replaceAll('-', '_')}='${secret}'; start --v=2`],
];

/** What programs, servers and logs say. */
const TEXTS: readonly ((secret: string) => string)[] = [
  (secret) => `Authorization: Bearer ${secret}`,
  (secret) => `authorization: bearer ${secret}`,
  (secret) => `request with bearer ${secret} was refused`,
  (secret) => `Authorization: Basic ${secret}==`,
  (secret) => `dial https://user:${secret}@etcd.example:2379: refused`,
  (secret) => `the password "${secret}" is wrong`,
  (secret) => `token '${secret}' has expired`,
  (secret) => `token eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.${secret} was refused`,
  (secret) => `-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----`,
  (secret) => `{"auths":{"registry.example":{"auth":"${secret}"}}}`,
];

const isEnough = 200;

/** Two hundred, in every place and form; each secret is there once. */
export function plants(): readonly Plant[] {
  const found: Plant[] = [];
  const add = (place: Plant['place'], name: string, value: (secret: string) => string) => {
    const secret = `pl4nt${String(found.length).padStart(3, '0')}geheim`;
    found.push({ secret, place, name, value: value(secret) });
  };
  for (const name of VARIABLES) add('env', name, (secret) => secret);
  for (const name of KEYS) add('annotation', `example.org/${name}`, (secret) => secret);
  for (const name of KEYS) add('data', name, (secret) => secret);
  for (const key of KEYS) for (const [name, value] of FORMS) add('text', `${key}.${name}`, (secret) => value(key, secret));
  TEXTS.forEach((value, index) => {
    add('text', `said-${index}`, value);
  });
  if (found.length < isEnough) throw new Error(`${found.length} secrets are fewer than ${isEnough}`);
  return found;
}

const hex = (length: number, seed: number) => Array.from({ length }, (_, at) => ((seed * 7 + at * 5) % 16).toString(16)).join('');

/** Two hundred values that look like nothing but themselves: name and value of a variable. */
export function harmless(): readonly (readonly [name: string, value: string])[] {
  const of = (count: number, name: string, value: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => [`${name}_${index}`, value(index)] as const);
  return [
    ...of(40, 'DIGEST', (index) => `sha256:${hex(64, index)}`),
    ...of(40, 'UID', (index) => `${hex(8, index)}-${hex(4, index)}-4${hex(3, index)}-a${hex(3, index)}-${hex(12, index)}`),
    ...of(40, 'IMAGE', (index) => `registry.example:5000/net/token-node-${index}@sha256:${hex(64, index + 50)}`),
    ...of(20, 'PORT', (index) => String(9000 + index)),
    ...of(20, 'CIDR', (index) => `10.${index}.0.0/16`),
    ...of(20, 'TOKEN_FILE', (index) => `/var/run/secrets/token-${index}`),
    ...of(10, 'ADDRESS', (index) => `https://etcd-${index}.example:2379/secrets?watch=true`),
    ...of(10, 'SECRET_NAME', (index) => `etcd-secrets-${index}`),
  ];
}
