import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { run } from '@oclif/core/run';
import { exitCodeOf } from './exit-code.ts';
import { loadOptions, type Manifest, MemoryPlugin } from './plugin.ts';
import { realSeams } from './real-seams.ts';
import type { Seams } from './seams.ts';

/** `oclif.manifest.json` lies two folders above, in the sources and in dist alike (docs/internals/decisions/start-up.md). */
const ROOT = new URL('../../', import.meta.url);

export async function runShell(argv: readonly string[], name: string): Promise<number> {
  const manifest = JSON.parse(await readFile(new URL('oclif.manifest.json', ROOT), 'utf8')) as Manifest;
  return runCommand(argv, manifest, realSeams(name, manifest.version));
}

/** Runs one command in this process and resolves to its exit code; every error ends here. */
export async function runCommand(argv: readonly string[], manifest: Manifest, seams: Seams): Promise<number> {
  const flags = Object.keys(manifest.commands[argv[0] ?? '']?.flags ?? {});
  return exitCodeOf({ argv, flags, seams }, () => run([...argv], loadOptions(new MemoryPlugin(manifest, seams, fileURLToPath(ROOT)))));
}
