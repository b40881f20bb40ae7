import assert from 'node:assert/strict';
import { complete, type LookUp, type Manifest } from '../../src/cli/complete.ts';
import { connectionOf } from '../../src/cli/complete-live.ts';

const option = (name: string, summary: string, more: object = {}) => ({ [name]: { name, summary, type: 'option', ...more } });
const command = (id: string, summary: string, flags: object = {}, more: object = {}) => ({
  [id]: { id, summary, flags, args: {}, ...more },
});
const manifest = {
  version: '1.2.3',
  commands: {
    ...command('preflight', 'looks', {
      ...option('output', 'format', { char: 'o', options: ['json', 'yaml'] }),
      ...option('kubeconfig', 'file'),
      ...option('accept', 'take', { multiple: true }),
      ...option('profile', 'names'),
      ...option('namespace', 'where', { char: 'n' }),
      yes: { name: 'yes', char: 'y', summary: 'do', type: 'boolean' },
    }),
    ...command('plan', 'shows'),
    ...command('ownerrefs', 'removes', {}, { args: { action: { options: ['list', 'strip'] } } }),
    ...command('help', 'helps', {}, { hidden: true }),
  },
} as unknown as Manifest;

const offered = (words: readonly string[], lookUp: LookUp = async () => []) => complete(words, manifest, lookUp);

describe('completion', () => {
  const cases: readonly (readonly [string, readonly string[], string])[] = [
    ['commands by their start', ['p'], 'preflight\tlooks\nplan\tshows\n:36\n'],
    ['every command for no word', [''], 'preflight\tlooks\nplan\tshows\nownerrefs\tremoves\n:36\n'],
    ['flags', ['preflight', '--k'], '--kubeconfig\tfile\n:4\n'],
    ['values after a flag', ['preflight', '-o', 'j'], 'json\n:36\n'],
    ['values after =', ['preflight', '--output=y'], '--output=yaml\n:36\n'],
    ['files for file flags', ['preflight', '--kubeconfig', ''], ':0\n'],
    ['nothing after the = of a flag that takes no value', ['preflight', '--yes='], ':4\n'],
    ['no flag twice', ['preflight', '--yes', '--y'], ':4\n'],
    ['repeatable flags again', ['preflight', '--accept', 'x', '--ac'], '--accept\ttake\n:4\n'],
    ['checks to accept', ['preflight', '--accept', 'NS-101'], 'NS-101\tinstallation found\n:36\n'],
    ['profiles', ['preflight', '--profile', 'n'], 'netsvc\n:36\n'],
    ['arguments, never flags, after --', ['ownerrefs', '--', 's'], 'strip\n:4\n'],
    ['arguments', ['ownerrefs', 'l'], 'list\n:4\n'],
    ['commands after help', ['help', 'pl'], 'plan\tshows\n:36\n'],
    ['nothing for an unknown command', ['nope', ''], ':4\n'],
  ];
  for (const [title, words, wanted] of cases) it(`offers ${title}`, async () => assert.equal(await offered(words), wanted));

  const lookups: readonly (readonly [string, readonly string[], readonly string[], string])[] = [
    ['after a flag', ['-o', 'json', '-n', 'ku'], ['namespaces', '-o', 'json', '-n'], 'kube-system\n:4\n'],
    ['after =', ['--namespace=ku'], ['namespaces'], '--namespace=kube-system\n:4\n'],
    ['of nodes for a check of hosts', ['--accept=NS-712=ku'], ['nodes'], '--accept=NS-712=kube-system\n:4\n'],
  ];
  for (const [title, words, asked, wanted] of lookups)
    it(`looks names up ${title}`, async () => {
      const found: string[] = [];
      const lookUp: LookUp = async (names, before) => {
        found.push(names, ...before);
        return ['default', 'kube-system'];
      };
      assert.equal(await offered(['preflight', ...words], lookUp), wanted);
      assert.deepEqual(found, asked);
    });

  it('asks the cluster that was typed', () => {
    const words = '-o json --context prod --insecure-skip-tls-verify --as=a --accept NS-101 --as-group b --timeout 1m'.split(' ');
    assert.deepEqual(connectionOf(words), ['--context', 'prod', '--insecure-skip-tls-verify', '--as=a', '--as-group', 'b']);
  });
});
