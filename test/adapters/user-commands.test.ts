import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { chosenContext } from '../../src/adapters/kubeconfig/chosen-context.ts';
import type { Environment } from '../../src/adapters/kubeconfig/connection.ts';
import { openUserCommands } from '../../src/adapters/user-commands.ts';
import { forPrograms } from '../../src/cli/command-line.ts';
import { Fault } from '../../src/kernel/fault.ts';
import { isInterrupted } from '../../src/kernel/interruption.ts';
import { testFolder } from '../support/folders.ts';

const never = new AbortController().signal;

describe('a command of the user', () => {
  const folder = testFolder('user-commands');
  const script = (name: string, text: string, mode = 0o755): string => {
    const file = join(folder, name);
    writeFileSync(file, `#!/bin/sh\n${text}\n`);
    chmodSync(file, mode);
    return file;
  };
  const opened = async (text: string, env: NodeJS.ProcessEnv = process.env, more: Environment = {}) =>
    (await openUserCommands({ probe: text }, forPrograms(env)))(async () => more);
  const ran = async (text: string, { limitMs = 10_000, env = process.env, node = '' } = {}) =>
    (await opened(text, env)).run('probe', { limitMs, signal: never, node });

  it('gets its words as they are, with the name of the node', async () => {
    const file = script('words.sh', `[ "$1" = 'a b' ] && [ "$2" = '*' ] && [ "$3" = x-node-01 ] || { echo "$@" >&2; exit 7; }`);
    assert.equal((await ran(`${file} 'a b' * x-{node}`, { node: 'node-01' })).because, undefined);
    assert.equal((await ran(`${file} 'a b' * y`)).because, 'it ended with exit code 7: a b * y');
  });

  it('has the environment of the user, without credentials of this program', async () => {
    const file = script('env.sh', 'echo "$MINE/$NETSVC_UPGRADE_TOKEN/$NETSVC_UPGRADE_NOTIFY/$KUBECONFIG" >&2; exit 1');
    const env = { ...process.env, MINE: 'mine', NETSVC_UPGRADE_TOKEN: 'token', NETSVC_UPGRADE_NOTIFY: 'https://h/s', KUBECONFIG: 'k' };
    assert.equal((await ran(file, { env })).because, 'it ended with exit code 1: mine///k');
  });

  it('finds the context of the run before the files of the user, and no credentials', async () => {
    const files = new Map<string, string>();
    const work = { write: async (name: string, text: string | Uint8Array) => files.set(name, String(text)) && `/w/${name}` };
    const context = { contextName: 'prod', source: '/k' };
    const { KUBECONFIG = '' } = await chosenContext(context, {}, { KUBECONFIG: ['/k', '/l'].join(delimiter) }, work);
    const [name = '', ...own] = KUBECONFIG.split(delimiter);
    assert.deepEqual(own, ['/k', '/l']);
    assert.deepEqual(JSON.parse(files.get(basename(name)) ?? ''), { apiVersion: 'v1', kind: 'Config', 'current-context': 'prod' });
    const named = await chosenContext(context, { kubeconfig: '/m' }, { KUBECONFIG: '/k' }, work);
    assert.equal(named.KUBECONFIG, [name, '/m'].join(delimiter));
    assert.deepEqual(await chosenContext({ contextName: 'in-cluster', source: 'in-cluster' }, {}, {}, work), {});
    const run = await opened(
      script('kubeconfig.sh', 'echo "$KUBECONFIG" >&2; exit 1'),
      { ...process.env, KUBECONFIG: '/k' },
      { KUBECONFIG },
    );
    assert.match((await run.run('probe', { limitMs: 10_000, signal: never })).because ?? '', /: \S*context-\w+:\/k:\/l$/);
  });

  it('is killed when its time is up, with what it started', async () => {
    const file = script('slow.sh', 'sleep 60 & wait');
    assert.match((await ran(file, { limitMs: 200 })).because ?? '', /^it did not end within 0\.2 s and was killed$/);
  });

  it('may print as much as it likes: the last line is told where it fails', async () => {
    const much = 'head -c 200000 /dev/zero | tr "\\0" é';
    assert.equal((await ran(script('much.sh', much))).because, undefined);
    const failing = await ran(script('much-then-fails.sh', `${much}; echo; echo cannot evict; exit 1`));
    assert.equal(failing.because, 'it ended with exit code 1: cannot evict');
    assert.match((await ran(script('yes.sh', 'yes'), { limitMs: 500 })).because ?? '', /^it did not end within/);
  });

  it('says nothing of a line whose beginning is gone: it may have said what a credential is', async () => {
    const file = script('long-line.sh', 'printf "token: "; head -c 200000 /dev/zero | tr "\\0" a; exit 1');
    assert.equal((await ran(file)).because, 'it ended with exit code 1');
  });

  it('that is ended from outside has failed for nobody', async () => {
    const cut = new AbortController();
    const running = (await opened(script('long.sh', 'sleep 60'))).run('probe', { limitMs: 60_000, signal: cut.signal });
    setTimeout(() => cut.abort(), 100);
    await assert.rejects(running, isInterrupted);
  });

  it('says nothing that looks like a credential', async () => {
    const file = script('secret.sh', 'echo "token: abcdefghijklmnop https://u:p@host/" >&2; exit 1');
    assert.doesNotMatch((await ran(file)).because ?? '', /abcdefghijklmnop|u:p/);
  });

  for (const [what, text] of [
    ['a file that may not be executed', () => script('plain.sh', 'true', 0o644)],
    ['a file that is not there', () => join(folder, 'absent.sh')],
    ['a folder', () => folder],
    ['a name that is not in PATH', () => 'no-such-program-here'],
  ] as const)
    it(`is refused before anything is asked: ${what}`, () =>
      assert.rejects(
        opened(text()),
        (thrown) => thrown instanceof Fault && thrown.code === 'usage' && thrown.message.startsWith('--probe: '),
      ));
});
