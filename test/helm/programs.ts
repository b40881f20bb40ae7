import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';

export type HelmMajor = 3 | 4;

/** The real chart tool of this major version; built once (a minute or two) from the pinned Go module beside this file. Throws with the reason. */
export async function resolveHelm(major: HelmMajor): Promise<string> {
  const module = join(import.meta.dirname, `v${major}`);
  const version = pinnedVersion(module, major);
  const flags = ['-ldflags', `-s -w -X helm.sh/helm/v${major}/internal/version.version=${version}`];
  const key = createHash('sha256').update(readFileSync(join(module, 'go.sum')));
  key.update(JSON.stringify([flags, process.platform, process.arch]));
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const folder = join(cache, 'netsvc-upgrade-helm', key.digest('hex').slice(0, 16));
  const program = join(folder, 'helm');
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  const half = `${program}.${process.pid}`;
  const args = ['build', '-mod=readonly', '-trimpath', ...flags, '-o', half, `helm.sh/helm/v${major}/cmd/helm`];
  const { exitCode, all } = await execa('go', args, { cwd: module, env: { CGO_ENABLED: '0' }, all: true, reject: false });
  if (exitCode !== 0) throw new Error(`helm ${major} cannot be built: ${all ?? 'there is no Go compiler on the PATH'}`);
  renameSync(half, program); // whoever finishes first wins: both have built the same
  return program;
}

function pinnedVersion(module: string, major: HelmMajor): string {
  const version = new RegExp(`helm\\.sh/helm/v${major} (v\\S+)`).exec(readFileSync(join(module, 'go.mod'), 'utf8'))?.[1];
  if (version === undefined) throw new Error(`${module} does not pin helm`);
  return version;
}
