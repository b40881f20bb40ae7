import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';

/** The real krew, and the check that krew's own index runs on every change. */
export interface KrewPrograms {
  /** Holds `kubectl-krew`, so that `kubectl krew` works with this folder on PATH. */
  readonly folder: string;
  readonly krew: string;
  readonly validator: string;
}

const MODULE = import.meta.dirname;
const PACKAGES = { 'kubectl-krew': 'sigs.k8s.io/krew/cmd/krew', 'validate-krew-manifest': 'sigs.k8s.io/krew/cmd/validate-krew-manifest' };

/** Builds what the cache lacks from the pinned Go module beside this file (about a minute, once). Throws with the reason if that cannot be done. */
export async function resolveKrew(): Promise<KrewPrograms> {
  const folder = cacheFolder();
  mkdirSync(folder, { recursive: true });
  for (const [program, source] of Object.entries(PACKAGES))
    if (!existsSync(join(folder, program))) await build(join(folder, program), source);
  return { folder, krew: join(folder, 'kubectl-krew'), validator: join(folder, 'validate-krew-manifest') };
}

function cacheFolder(): string {
  const pins = createHash('sha256').update(readFileSync(join(MODULE, 'go.sum')));
  const key = pins.update(`${process.platform} ${process.arch}`).digest('hex').slice(0, 16);
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'netsvc-upgrade-krew', key);
}

/** Whoever finishes first wins: both have built the same. */
async function build(target: string, source: string): Promise<void> {
  const half = `${target}.${process.pid}`;
  const options = { cwd: MODULE, env: { CGO_ENABLED: '0' }, all: true, reject: false } as const;
  const { exitCode, all } = await execa('go', ['build', '-mod=readonly', '-trimpath', '-o', half, source], options);
  if (exitCode !== 0) throw new Error(`krew cannot be built: ${all ?? 'there is no Go compiler on the PATH'}`);
  renameSync(half, target);
}
