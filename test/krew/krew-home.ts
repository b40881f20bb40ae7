import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { execa } from 'execa';
import type { KrewPrograms } from './programs.ts';

export interface Said {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** A person's krew, empty at first, in a folder with spaces in its name, and a git index of their company. */
export interface KrewHome {
  /** KREW_ROOT. */
  readonly root: string;
  /** A folder that holds kubectl and nothing else. */
  readonly kubectlOnly: string;
  readonly indexUrl: string;
  /** `kubectl krew …`. */
  krew(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Said>;
  /** A program with this environment and no other. */
  run(program: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<Said>;
  /** Commits this manifest to the index, under this version. */
  publish(manifest: string, version: string): Promise<void>;
  remove(): void;
}

export async function makeKrewHome(kubectl: string, programs: KrewPrograms): Promise<KrewHome> {
  const folder = mkdtempSync(join(tmpdir(), 'netsvc krew '));
  const root = join(folder, 'krew root');
  const kubectlOnly = join(folder, 'kubectl only');
  const index = join(folder, 'index');
  mkdirSync(kubectlOnly);
  mkdirSync(join(index, 'plugins'), { recursive: true });
  symlinkSync(kubectl, join(kubectlOnly, 'kubectl'));
  const run: KrewHome['run'] = async (program, args, env) => {
    const options = { env, extendEnv: false, reject: false, stdin: 'ignore', timeout: 280_000, cwd: folder } as const;
    const { exitCode, stdout, stderr } = await execa(program, args, options);
    return { exitCode, stdout, stderr };
  };
  const env = { HOME: folder, KREW_ROOT: root, KREW_NO_UPGRADE_CHECK: '1', GIT_CONFIG_NOSYSTEM: '1' };
  const path = [join(root, 'bin'), programs.folder, kubectlOnly, '/usr/bin', '/bin'].join(delimiter);
  const author = ['-c', 'user.name=test', '-c', 'user.email=test@example.org', '-c', 'commit.gpgsign=false'];
  const git = (...args: readonly string[]) => execa('git', [...author, ...args], { cwd: index, env });
  await git('init', '--quiet', '--initial-branch=main');
  return {
    root,
    kubectlOnly,
    indexUrl: `file://${index}`,
    run,
    krew: (args, extra = {}) => run(join(kubectlOnly, 'kubectl'), ['krew', ...args], { ...env, PATH: path, ...extra }),
    async publish(manifest, version) {
      const text = readFileSync(manifest, 'utf8').replace(/^( {2}version: ).*$/m, `$1${version}`);
      writeFileSync(join(index, 'plugins', 'netsvc-upgrade.yaml'), text);
      await git('add', '.');
      await git('commit', '--quiet', '--message', version);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
