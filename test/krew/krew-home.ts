import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { execa } from 'execa';
import { patient } from '../support/patience.ts';
import type { KrewPrograms } from './programs.ts';

/** A person's krew, empty at first, in a folder with spaces in its name, and a git index of their company. */
export type KrewHome = Awaited<ReturnType<typeof makeKrewHome>>;

export async function makeKrewHome(kubectl: string, programs: KrewPrograms) {
  const folder = mkdtempSync(join(tmpdir(), 'netsvc krew '));
  const root = join(folder, 'krew root');
  const kubectlOnly = join(folder, 'kubectl only');
  const index = join(folder, 'index');
  mkdirSync(kubectlOnly);
  mkdirSync(join(index, 'plugins'), { recursive: true });
  symlinkSync(kubectl, join(kubectlOnly, 'kubectl'));
  const run = async (program: string, args: readonly string[], env: Readonly<Record<string, string>>) => {
    const options = { env, extendEnv: false, reject: false, stdin: 'ignore', timeout: patient(280_000), cwd: folder } as const;
    const { exitCode, stdout, stderr } = await execa(program, args, options);
    return { exitCode, stdout, stderr };
  };
  const env = { HOME: folder, KREW_ROOT: root, KREW_NO_UPGRADE_CHECK: '1', GIT_CONFIG_NOSYSTEM: '1' };
  const path = [join(root, 'bin'), programs.folder, kubectlOnly, '/usr/bin', '/bin'].join(delimiter);
  const author = ['-c', 'user.name=test', '-c', 'user.email=test@example.org', '-c', 'commit.gpgsign=false'];
  const git = (...args: readonly string[]) => execa('git', [...author, ...args], { cwd: index, env });
  await git('init', '--quiet', '--initial-branch=main');
  return {
    /** KREW_ROOT. */
    root,
    /** A folder that holds kubectl and nothing else. */
    kubectlOnly,
    indexUrl: `file://${index}`,
    /** A program with this environment and no other. */
    run,
    /** `kubectl krew …`. */
    krew: (args: readonly string[], extra: Readonly<Record<string, string>> = {}) =>
      run(join(kubectlOnly, 'kubectl'), ['krew', ...args], { ...env, PATH: path, ...extra }),
    /** Commits this manifest to the index, under this version. */
    async publish(manifest: string, version: string) {
      const text = readFileSync(manifest, 'utf8').replace(/^( {2}version: ).*$/m, `$1${version}`);
      writeFileSync(join(index, 'plugins', 'netsvc-upgrade.yaml'), text);
      await git('add', '.');
      await git('commit', '--quiet', '--message', version);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
