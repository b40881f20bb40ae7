import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { readRuntimeLock, runtimeFile } from '../../build/pack-runtimes.ts';
import { serveFolder } from '../control-plane/listening.ts';

const root = join(import.meta.dirname, '..', '..');

/** Archives of this checkout, served on the loopback interface as a forge would serve them, with SHA256SUMS and netsvc-upgrade.yaml. */
export type PackedRelease = Awaited<ReturnType<typeof packRelease>>;

/** Why this machine cannot pack for itself: no network and nothing in the cache. A runtime that is not the pinned one is no excuse. */
export function runtimeProblem(platform: string): string | undefined {
  const runtime = readRuntimeLock().runtimes.find(({ os, arch }) => `${os}/${arch}` === platform);
  if (!runtime) return `there is no archive for ${platform}`;
  try {
    runtimeFile(runtime, 'LICENSE');
    return undefined;
  } catch (thrown) {
    const { message } = thrown as Error;
    if (/lock pins/.test(message)) throw thrown;
    return `${runtime.package}@${runtime.version} cannot be fetched: ${message}`;
  }
}

/** Packs these platforms (none = all). Throws if a runtime cannot be fetched. */
export async function packRelease(...platforms: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'netsvc-upgrade-archives-'));
  const { url, close } = await serveFolder(folder);
  const stop = () => {
    void close();
    rmSync(folder, { recursive: true, force: true });
  };
  const place = ['--out', folder, '--place', url, '--level', '1'];
  try {
    await execa(process.execPath, ['build/pack.ts', ...place, ...platforms.flatMap((one) => ['--platform', one])], { cwd: root });
  } catch (thrown) {
    stop();
    throw thrown;
  }
  return { folder, manifest: join(folder, 'netsvc-upgrade.yaml'), stop };
}
