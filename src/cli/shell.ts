import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { run } from '@oclif/core/run';
import { EXIT, type ExitName, type Fault } from '../core/fault.ts';
import { errorText } from './error-text.ts';
import { toFault } from './faults.ts';
import { inWordsOf } from './name.ts';
import { loadOptions, type Manifest, MemoryPlugin } from './plugin.ts';
import { realSeams } from './real-seams.ts';
import type { Seams } from './seams.ts';

/** `oclif.manifest.json` lies two folders above, in the sources and in dist alike (docs/decisions/start-up.md). */
const ROOT = new URL('../../', import.meta.url);

export async function runShell(argv: readonly string[], name: string): Promise<number> {
  const manifest = JSON.parse(await readFile(new URL('oclif.manifest.json', ROOT), 'utf8')) as Manifest;
  return runCommand(argv, manifest, realSeams(name, manifest.version));
}

/** Runs one command in this process and resolves to its exit code; every error ends here. */
export async function runCommand(argv: readonly string[], manifest: Manifest, seams: Seams): Promise<number> {
  try {
    const exit: unknown = await run([...argv], loadOptions(new MemoryPlugin(manifest, seams, fileURLToPath(ROOT))));
    return isExitName(exit) ? EXIT[exit] : EXIT.done;
  } catch (thrown) {
    const command = argv[0] ?? '';
    const fault = toFault(thrown, { command, flags: Object.keys(manifest.commands[command]?.flags ?? {}) });
    seams.terminal.err(inWordsOf(seams.name, errorText(fault, argv, seams.env, defectIn(fault, seams))));
    return EXIT[fault.code];
  }
}

/** Where a defect came from, for whoever mends it. */
function defectIn(fault: Fault, { env }: Seams): readonly string[] {
  return fault.code === 'failed' && env.NETSVC_UPGRADE_DEBUG && fault.cause instanceof Error ? [fault.cause.stack ?? ''] : [];
}

function isExitName(value: unknown): value is ExitName {
  return typeof value === 'string' && Object.hasOwn(EXIT, value);
}
