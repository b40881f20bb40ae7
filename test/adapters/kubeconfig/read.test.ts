import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { readPlain } from '../../../src/adapters/kubeconfig/plain.ts';
import { readDocument } from '../../../src/adapters/kubeconfig/read.ts';
import { readAlone } from '../../../src/adapters/kubeconfig/view.ts';
import { testFolder } from '../../support/folders.ts';
import { describeWhere, lacksProgram } from '../../support/needs.ts';

const BETA = 'client.authentication.k8s.io/v1beta1';

/** As kubectl, cloud command lines and people write them. */
const WRITTEN = `# made by hand
apiVersion: v1
kind: Config
preferences: {}
current-context: arn:aws:eks:eu-west-1:1234:cluster/prod
clusters:
- cluster:
    certificate-authority-data: QUJD
    server: https://ABC.gr7.eu-west-1.eks.amazonaws.com
  name: arn:aws:eks:eu-west-1:1234:cluster/prod
- name: another
  cluster:
    insecure-skip-tls-verify: true
    disable-compression: false
    server: "https://10.0.0.1:6443"
    tls-server-name: inner.example
    proxy-url: socks5://proxy:1080

contexts:
  - context:
      cluster: another
      namespace: 'teams'
      user: certified
    name: zebra
  - name: arn:aws:eks:eu-west-1:1234:cluster/prod
    context:
      cluster: arn:aws:eks:eu-west-1:1234:cluster/prod
      user: cloud
users:
- name: cloud
  user:
    exec:
      apiVersion: ${BETA}
      args:
      - --region
      - eu-west-1
      command: aws
      env:
      - name: AWS_PROFILE
        value: "prod"
      - name: EMPTY
        value: ""
- name: strict
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: ./bin/plugin
      args: []
      env: null
      interactiveMode: Never
      provideClusterInfo: true
- name: certified
  user:
    client-certificate: pki/client.crt
    client-key: /etc/pki/client.key
    as: joe
    as-uid: "7"
- name: named
  user:
    username: me
    password: "12345"
    token: eyJhbGciOi.x-y_z
    tokenFile: token
- name: nobody
  user: {}
`;

/** As generators and people write it who like one line. */
const BRACKETS = `apiVersion: v1
kind: Config
preferences: {}
current-context: kind-a
clusters: [{name: kind-a, cluster: {server: https://127.0.0.1:6443, certificate-authority-data: QUJDRA==}}, {name: b, cluster: {server: "https://b"}}]
contexts:
- {name: kind-a, context: {cluster: kind-a, user: kind-a, namespace: 'a'}}
- name: b
  context: { cluster: b, user: certified }
users:
- name: kind-a
  user: {exec: {apiVersion: ${BETA}, command: x, args: [--region, eu, "--a b"], env: [ {name: A, value: b} ]}}
- {name: certified, user: {client-certificate: ./a.crt, client-key: /b.key}}
`;
const ONE_LINE = `{apiVersion: v1, kind: Config, current-context: a, clusters: [{cluster: {server: https://a}, name: a}], contexts: [{context: {cluster: a, user: a}, name: a}], users: [{name: a, user: {token: "1, 2: {x}"}}]}`;
const OVER_LINES = `{
  "apiVersion": "v1", "kind": "Config",
  clusters: [
    # one
    {name: a,
     cluster: {server: https://a}},
  {name: b, cluster: {server: https://b}}
  ],
  users: [] }
`;

const head = 'apiVersion: v1\nkind: Config\n';
const cluster = (entry: string) => `${head}clusters:\n- name: c\n  cluster:\n    server: https://c\n${entry}`;
const user = (entry: string) => `${head}users:\n- name: u\n  user:\n${entry}`;

/** Whatever has a second reading, or that kubectl would change, refuse or drop. */
const UNCLEAR: Readonly<Record<string, string>> = {
  nothing: '',
  'another kind': 'apiVersion: v1\nkind: Pod\n',
  'no kind': 'apiVersion: v1\nclusters: []\n',
  'a number as a name': cluster('- name: 12\n  cluster:\n    server: https://d\n'),
  'a word that may mean yes': user('    token: on\n'),
  'a token like a number': user('    token: 1e5\n'),
  'a name twice': cluster('- name: c\n  cluster:\n    server: https://d\n'),
  'a key twice': cluster('    server: https://d\n'),
  'a key that kubectl drops': cluster('    colour: red\n'),
  'empty text': user('    token: ""\n'),
  'an empty server': `${head}clusters:\n- name: c\n  cluster:\n    server: ""\n`,
  'a cluster without a server': `${head}clusters:\n- name: c\n  cluster: {}\n`,
  'an entry without content': `${head}users:\n- name: u\n`,
  'data that is no base64': cluster('    certificate-authority-data: QUJ\n'),
  'an extension': cluster('    extensions:\n    - name: x\n      extension: {}\n'),
  'groups to impersonate': user('    as: joe\n    as-groups: [a]\n'),
  'an auth provider': user('    auth-provider:\n      name: oidc\n'),
  'text over two lines': user('    token: a\n      b\n'),
  'a block of text': user('    token: |\n      a\n'),
  'a value with a comment': user('    token: abc # mine\n'),
  'an escape': user('    token: "a\\u0062"\n'),
  'an anchor': user('    token: &t abc\n'),
  'a key in brackets twice': `${head}users: [{name: u, name: u, user: {}}]\n`,
  'a key in brackets without a space behind it': `${head}users: [{name:u, user: {}}]\n`,
  'a comma too many': `${head}users: [{name: u, user: {}},]\n`,
  'a bracket too many': `${head}users: [{name: u, user: {}}]]\n`,
  'a bracket that is not closed': `${head}users: [{name: u, user: {}}\n`,
  'a bracket that is closed too far left': `${head}users: [\n{name: u, user: {}}]\n`,
  'a number in brackets': `${head}users: [{name: u, user: {token: 123}}]\n`,
  'a word that may mean yes, in brackets': `${head}users: [{name: u, user: {token: yes}}]\n`,
  'an anchor in brackets': `${head}users: [{name: u, user: &a {token: a}}]\n`,
  'a comment in brackets': `${head}users: [{name: u, # mine\n  user: {}}]\n`,
  'an escape in brackets': `${head}users: [{name: u, user: {token: "a\\u0062"}}]\n`,
  'a tab': user('    token:\tabc\n'),
  'carriage returns': user('    token: abc\r\n'),
  'letters outside of ASCII': `${head}current-context: köln\n`,
  'two documents': `${head}---\n${head}`,
  'a list where a mapping is due': `${head}clusters:\n- name: c\n  cluster:\n  - server: https://c\n`,
  'a lone dash': `${head}users:\n-\n  name: u\n  user: {}\n`,
  'wrong indentation': `${head}users:\n- name: u\n   user: {}\n`,
  'a list that is null': `${head}clusters: null\n`,
  'a plugin of v1 without a mode': user('    exec:\n      apiVersion: client.authentication.k8s.io/v1\n      command: x\n'),
  'a plugin of an old version': user('    exec:\n      apiVersion: client.authentication.k8s.io/v1alpha1\n      command: x\n'),
  'a hint over words': user(`    exec:\n      apiVersion: ${BETA}\n      command: x\n      installHint: get it there\n`),
  'preferences that say something': `${head}preferences:\n  colors: true\n`,
  'JSON that repeats a key': '{"apiVersion":"v1","kind":"Config","current-context":"a","current-context":"b"}',
  'JSON with an escape': '{"apiVersion":"v1","kind":"Config","current-context":"\\u0061"}',
  'JSON that is cut off': '{"apiVersion":"v1"',
};

const readText = (text: string) => {
  const value = readPlain(text);
  return value === undefined ? undefined : readDocument(value);
};

describe('a kubeconfig read without kubectl', function () {
  this.timeout(20_000);
  const folder = testFolder('kubeconfig-read-');

  async function printedByKubectl(text: string): Promise<unknown> {
    const file = join(folder, 'config');
    await writeFile(file, text);
    const printed = execFileSync('kubectl', ['config', 'view', '--raw', '-o', 'json', `--kubeconfig=${file}`], { encoding: 'utf8' });
    const { apiVersion, kind, preferences, ...document } = JSON.parse(printed);
    return document;
  }

  const agreeing: readonly [string, string][] = [
    ['as people write them', WRITTEN],
    ['with nothing in it', head],
    ['with lists in brackets', BRACKETS],
    ['that is one line', ONE_LINE],
    ['in brackets over several lines', OVER_LINES],
    ['with empty lists', `${head}clusters: []\nusers: []\ncontexts: []\n`],
    ['with plugins only', user(`    exec:\n      apiVersion: ${BETA}\n      command: x\n      args:\n      - a\n`)],
  ];
  describeWhere(lacksProgram('kubectl'), 'beside kubectl', () => {
    for (const [title, text] of agreeing) {
      it(`is what kubectl prints, for a file ${title}`, async () => {
        const document = readText(text);
        assert.ok(document);
        assert.deepEqual(document, await printedByKubectl(text));
      });
    }

    it('is the same again from what kubectl itself writes, as YAML and as JSON', async () => {
      const document = readText(WRITTEN);
      const file = join(folder, 'written');
      await writeFile(file, WRITTEN);
      for (const format of ['yaml', 'json']) {
        const text = execFileSync('kubectl', ['config', 'view', '--raw', '-o', format, `--kubeconfig=${file}`], { encoding: 'utf8' });
        assert.deepEqual(readText(text), document, format);
      }
    });
  });

  for (const [title, text] of Object.entries(UNCLEAR)) {
    it(`is left to kubectl where there is ${title}`, () => assert.equal(readText(text), undefined));
  }

  describeWhere(lacksProgram('kubectl'), 'several files beside kubectl', () => {
    for (const [title, second, isOurs] of [
      ['with other entries', `${head}current-context: z\nclusters: [{name: 0, cluster: {server: https://z}}]\n`.replace('0', 'aaa'), true],
      ['with a current context before one without', `${head}users: [{name: zz, user: {token: t}}]\n`, true],
      ['with the same name', `${head}clusters: [{name: another, cluster: {server: https://z, tls-server-name: z}}]\n`, false],
      ['of which one is unclear', `${head}users: [{name: zz, user: {token: 1}}]\n`, false],
    ] as const)
      it(`are what kubectl prints, or left to it: ${title}`, async () => {
        const files = [join(folder, 'one'), join(folder, 'two')];
        for (const [index, text] of [WRITTEN, second].entries()) await writeFile(files[index] ?? '', text);
        for (const listed of [files, files.toReversed()]) {
          const own = await readAlone(listed);
          assert.equal(own !== undefined, isOurs);
          if (own === undefined) continue;
          const env = { ...process.env, KUBECONFIG: listed.join(delimiter) };
          const printed = execFileSync('kubectl', ['config', 'view', '--raw', '-o', 'json'], { encoding: 'utf8', env });
          const { apiVersion, kind, preferences, ...document } = JSON.parse(printed);
          assert.deepEqual(own, document);
        }
      });
  });

  it('is left to kubectl where it is no regular file', async () => {
    const one = join(folder, 'one');
    await writeFile(one, head);
    assert.notEqual(await readAlone([join(folder, 'missing'), one]), undefined);
    assert.equal(await readAlone([join(folder, 'missing')]), undefined);
    assert.equal(await readAlone(['/dev/null']), undefined);
  });
});
