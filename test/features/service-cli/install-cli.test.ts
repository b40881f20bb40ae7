import assert from 'node:assert/strict';
import { installCli } from '../../../src/features/service-cli/effects.ts';
import type { Effect } from '../../../src/kernel/action.ts';
import type { EnginePorts } from '../../../src/kernel/effect-type.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import { NETSVC_TARGET, pattern } from '../../support/target.ts';

const INSTALL: Extract<Effect, { type: 'install-cli' }> = {
  type: 'install-cli',
  release: NETSVC_TARGET,
  path: 'bin/netsvcctl-linux-amd64',
  url: 'https://files.example/netsvcctl',
  to: '/b/netsvcctl',
};

function bench(sha256: string, says: readonly string[] = [`Client Version:    ${NETSVC_TARGET}\n`]) {
  const answers = [...says];
  const calls: string[] = [];
  const ports = {
    artifacts: {
      fetch: async (release: string, path: string) => {
        calls.push(`fetch ${release}/${path}`);
        return { url: INSTALL.url, file: 'netsvcctl-linux-amd64', bytes: new Uint8Array([1]), sha256 };
      },
    },
    work: {
      write: async (name: string) => {
        calls.push(`write ${name}`);
        return `/w/${name}`;
      },
    },
    machine: {
      installExecutable: async (from: string, sum: string, to: string, trial: (file: string) => Promise<void>, keepAs = '') => {
        await trial('/b/.new');
        calls.push(`install ${from} ${sum} ${to} ${keepAs}`.trim());
      },
    },
    tools: {
      run: async ({ args }: { readonly args: readonly string[] }, { program = '' }) => {
        calls.push(`${program} ${args.join(' ')}`);
        const stdout = answers.shift();
        return {
          exitCode: stdout === undefined ? undefined : 0,
          problem: stdout === undefined ? 'signal' : undefined,
          stdout: stdout ?? '',
        };
      },
    },
  } as unknown as EnginePorts;
  return { ports, calls };
}

describe('installing the CLI', () => {
  it('fetches, checks the published sum, then puts it in its place with that very sum', async () => {
    const { ports, calls } = bench('aa');
    const done = await installCli(ports, { ...INSTALL, sha256: 'aa', keepAs: '/k' });
    assert.deepEqual(calls, [
      `fetch ${NETSVC_TARGET}/bin/netsvcctl-linux-amd64`,
      `write netsvcctl-linux-amd64-${NETSVC_TARGET}`,
      '/b/.new version --client',
      `install /w/netsvcctl-linux-amd64-${NETSVC_TARGET} aa /b/netsvcctl /k`,
    ]);
    assert.match(done.detail ?? '', /sha256 aa \(as it has to be\); the old one kept as \/k/);
  });

  it('writes and installs nothing with another sum than the published one', async () => {
    const { ports, calls } = bench('bb');
    await assert.rejects(
      installCli(ports, { ...INSTALL, sha256: 'aa' }),
      (thrown) => thrown instanceof Fault && thrown.code === 'failed' && /has sha256 bb, it has to have aa/.test(thrown.message),
    );
    assert.deepEqual(calls, [`fetch ${NETSVC_TARGET}/bin/netsvcctl-linux-amd64`]);
  });

  for (const [title, says, because] of [
    ['does not start, a truncated one', [], pattern`is not ${NETSVC_TARGET} \(it crashed\): nothing was installed`],
    ['is of another release', ['Client Version:    v3.31.0\n'], /\(its version is v3\.31\.0\)/],
  ] as const)
    it(`installs nothing that ${title}`, async () => {
      const { ports, calls } = bench('aa', says);
      await assert.rejects(installCli(ports, INSTALL), because);
      assert.ok(!calls.some((call) => call.startsWith('install')));
    });

  it('starts an old one by its whole answer: it does not know the other', async () => {
    const { ports, calls } = bench('aa', ['Usage:\n', `Client Version:    ${NETSVC_TARGET}\n`]);
    await installCli(ports, INSTALL);
    assert.deepEqual(calls.slice(2, 4), ['/b/.new version --client', '/b/.new version']);
  });

  it('says that nothing was checked where no sum is published, and hands the sum over for the record', async () => {
    const done = await installCli(bench('cc').ports, INSTALL);
    assert.match(done.detail ?? '', /sha256 cc \(not checked, for no sum of it is known\)/);
    assert.deepEqual(done.digests, { [`netsvcctl-linux-amd64-${NETSVC_TARGET}`]: 'cc' });
  });
});
