import assert from 'node:assert/strict';
import { answerFast, displayedName } from '../../src/cli/fast-path.ts';
import type { FastPathTable } from '../../src/cli/plain-flags.ts';
import { inWordsOf } from '../../src/cli/terminal.ts';
import { nearest } from '../../src/kernel/nearest.ts';

const NAME = 'kubectl netsvc-upgrade';
const table: FastPathTable = {
  version: '1.2.3',
  names: ['preflight', 'plan', 'explain'],
  plain: {},
  commands: {
    preflight: {
      about: 'looks',
      flags: [
        { name: 'output', char: 'o', about: 'format', takesValue: true, values: ['json', 'yaml'] },
        { name: 'kubeconfig', about: 'file', takesValue: true, file: true },
        { name: 'accept', about: 'take', takesValue: true, repeatable: true, values: ['NS-101'], subjects: { 'NS-101': 'nodes' } },
        { name: 'profile', about: 'names', takesValue: true, values: ['netsvc'], file: true },
        { name: 'namespace', char: 'n', about: 'where', takesValue: true, live: 'namespaces' },
        { name: 'yes', char: 'y', about: 'do', takesValue: false },
      ],
    },
    plan: { about: 'shows', flags: [] },
    explain: { about: 'says', flags: [], values: ['NS-001', 'NS-101'] },
  },
  help: (page) => ({ [NAME]: `${page || 'root'} page\n` }),
};

const answer = (line: string) => answerFast(line === '' ? [] : line.split(' '), NAME, table, {});

describe('the fast path', () => {
  const pages: readonly (readonly [string, string])[] = [
    ['', 'root page\n'],
    ['--help', 'root page\n'],
    ['-h', 'root page\n'],
    ['help', 'root page\n'],
    ['help plan', 'plan page\n'],
    ['preflight --help', 'preflight page\n'],
    ['preflight -o json -h', 'preflight page\n'],
    ['--version', 'netsvc-upgrade v1.2.3\n'],
    ['version', 'netsvc-upgrade v1.2.3\n'],
  ];
  for (const [line, stdout] of pages) {
    it(`answers "${line}"`, () => assert.deepEqual(answer(line), { stdout, stderr: '', exit: 0 }));
  }

  it('reads one page for help, and neither pages nor flags for anything else but completion', () => {
    const read: string[] = [];
    const watched: FastPathTable = {
      ...table,
      titles: { 'NS-001': 'title' },
      get commands() {
        read.push('commands');
        return table.commands;
      },
      help(page) {
        read.push(page || 'root');
        return table.help(page);
      },
    };
    const readBy = (line: string) => {
      read.length = 0;
      answerFast(line.split(' '), NAME, watched, {});
      return [...read];
    };
    assert.deepEqual(readBy('--help'), ['root']);
    assert.deepEqual(readBy('help plan'), ['plan']);
    assert.deepEqual(readBy('preflight -o json -h'), ['preflight']);
    for (const line of ['--version', 'prefligth', '--token=x preflight', 'explain NS-001', 'preflight']) assert.deepEqual(readBy(line), []);
    assert.ok(readBy('__complete preflight --').every((one) => one === 'commands'));
  });

  for (const line of ['preflight', 'plan -o json', 'preflight -- --help']) {
    it(`leaves "${line}" to the command`, () => assert.equal(answer(line), undefined));
  }

  it('suggests a command for a misspelt one and exits 64', () => {
    const stderr =
      'error: unknown command "prefligth"\ndid you mean: kubectl netsvc-upgrade preflight\nNext: kubectl netsvc-upgrade preflight --help\n';
    assert.deepEqual(answer('prefligth'), { stdout: '', stderr, exit: 64 });
    assert.deepEqual(answer('help prefligth'), { stdout: '', stderr, exit: 64 });
  });

  it('names the help when nothing is near', () => {
    assert.match(answer('zzzzzzzz')?.stderr ?? '', /^error: unknown command "zzzzzzzz"\nNext: kubectl netsvc-upgrade --help\n$/);
  });

  it('says that flags stand after the command, without repeating their value', () => {
    const refused = answer('--token=geheim preflight');
    assert.equal(refused?.exit, 64);
    assert.match(
      refused?.stderr ?? '',
      /^error: --token must follow the command\nput the command first: kubectl netsvc-upgrade COMMAND --token …\nNext: kubectl netsvc-upgrade --help\n$/,
    );
  });

  const refusals: readonly (readonly [string, Readonly<Record<string, string>>, string, string, string?])[] = [
    ['prefligth -o json', {}, 'unknown command "prefligth"', `did you mean: ${NAME} preflight`, `${NAME} preflight --help`],
    [
      '--context x preflight -o json',
      {},
      '--context must follow the command',
      `put the command first: ${NAME} COMMAND --context …`,
      `${NAME} --help`,
    ],
    [
      '--output=json preflight',
      {},
      '--output must follow the command',
      `put the command first: ${NAME} COMMAND --output …`,
      `${NAME} --help`,
    ],
    ['help zzzzzzzz -ojson', {}, 'unknown command "zzzzzzzz"', `see the commands: ${NAME} --help`],
    ['zzzzzzzz', { NETSVC_UPGRADE_OUTPUT: 'json' }, 'unknown command "zzzzzzzz"', `see the commands: ${NAME} --help`],
  ];
  for (const [line, env, message, ...next] of refusals)
    it(`refuses "${line}"${env.NETSVC_UPGRADE_OUTPUT ? ' with json in the environment' : ''} in one line of JSON`, () => {
      const refused = answerFast(line.split(' '), NAME, table, env);
      assert.deepEqual([refused?.stdout, refused?.exit], ['', 64]);
      assert.match(refused?.stderr ?? '', /^\{.*\}\n$/);
      const error = { code: 'usage', exit: 64, message, next };
      assert.deepEqual(JSON.parse(refused?.stderr ?? ''), { apiVersion: 'output.netsvc-upgrade/v1', kind: 'Error', error });
    });

  it('is not fooled by names of the prototype', () => assert.equal(answer('constructor')?.exit, 64));
});

describe('completion', () => {
  const cases: readonly (readonly [string, readonly string[], string])[] = [
    ['commands by their start', ['p'], 'preflight\tlooks\nplan\tshows\n:36\n'],
    ['every command for no word', [''], 'preflight\tlooks\nplan\tshows\nexplain\tsays\n:36\n'],
    ['flags', ['preflight', '--k'], '--kubeconfig\tfile\n:4\n'],
    ['values after a flag', ['preflight', '-o', 'j'], 'json\n:36\n'],
    ['values after =', ['preflight', '--output=y'], '--output=yaml\n:36\n'],
    ['files for file flags', ['preflight', '--kubeconfig', ''], ':0\n'],
    ['true and false after the = of a flag that takes no value', ['preflight', '--yes='], '--yes=true\n--yes=false\n:36\n'],
    ['no flag twice', ['preflight', '--yes', '--y'], ':4\n'],
    ['repeatable flags again', ['preflight', '--accept', 'x', '--ac'], '--accept\ttake\n:4\n'],
    ['values before files', ['preflight', '--profile', 'n'], 'netsvc\n:36\n'],
    ['files where no value fits', ['preflight', '--profile', './'], ':0\n'],
    ['arguments, never flags, after --', ['explain', '--', 'NS-1'], 'NS-101\n:4\n'],
    ['arguments', ['explain', 'NS-1'], 'NS-101\n:4\n'],
    ['commands after help', ['help', 'pl'], 'plan\tshows\n:36\n'],
    ['nothing for an unknown command', ['nope', ''], ':4\n'],
  ];
  const questions: readonly (readonly [string, readonly string[], object])[] = [
    ['after a flag', ['-o', 'json', '-n', 'ku'], { names: 'namespaces', prefix: '', start: 'ku', before: ['-o', 'json', '-n'] }],
    ['after =', ['--namespace=ku'], { names: 'namespaces', prefix: '--namespace=', start: 'ku', before: [] }],
    ['for a subject', ['--accept=NS-101=n'], { names: 'nodes', prefix: '--accept=NS-101=', start: 'n', before: [] }],
  ];
  for (const [title, words, ask] of questions) {
    it(`looks names up ${title}, and offers nothing without them`, () => {
      const found = answerFast(['__complete', 'preflight', ...words], NAME, table, {});
      assert.deepEqual([found?.stdout, found?.ask], [':4\n', { command: 'preflight', ...ask }]);
    });
  }

  for (const [title, words, stdout] of cases) {
    it(`offers ${title}`, () => assert.equal(answerFast(['__complete', ...words], NAME, table, {})?.stdout, stdout));
  }
});

describe('the displayed name', () => {
  const cases: readonly (readonly [string | undefined, string])[] = [
    ['kubectl-netsvc_upgrade', NAME],
    ['/opt/x y/netsvcctl-upgrade', 'netsvcctl upgrade'],
    ['C:\\Program Files\\x\\netsvcctl-upgrade.exe', 'netsvcctl upgrade'],
    ['C:\\x\\NETSVCCTL-UPGRADE.EXE', 'netsvcctl upgrade'],
    ['C:\\netsvcctl-tools\\kubectl-netsvc_upgrade.exe', NAME],
    ['main.js', NAME],
    [undefined, NAME],
  ];
  for (const [argv0, name] of cases) it(`is ${name} for ${argv0}`, () => assert.equal(displayedName(argv0), name));

  it('replaces the own name everywhere', () => {
    assert.equal(
      inWordsOf('netsvcctl upgrade', `Next: ${NAME} run; ${NAME} status`),
      'Next: netsvcctl upgrade run; netsvcctl upgrade status',
    );
  });
});

describe('nearest', () => {
  const known = ['preflight', 'plan', 'apply', 'wait'];
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['preflite', 'preflight'],
    ['aply', 'apply'],
    ['APPLY', 'apply'],
    ['wiat', 'wait'],
    ['pre', 'preflight'],
    ['frobnicate', undefined],
  ];
  for (const [written, meant] of cases) it(`takes ${written} for ${meant}`, () => assert.equal(nearest(written, known), meant));
});
