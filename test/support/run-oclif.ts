import { join } from 'node:path';
import { type Errors, type Interfaces, run, settings } from '@oclif/core';
import { sourcePackage } from '../../build/manifest.ts';
import type { Seams } from '../../src/cli/seams.ts';
import { EXIT, type ExitName } from '../../src/kernel/fault.ts';

const root = join(import.meta.dirname, '..', '..');
// Node reads TypeScript itself.
settings.enableAutoTranspile = false;

/** How oclif loads this program's sources; with `seams`, commands get those instead of the real world. */
export function sourceOptions(seams?: Seams): Interfaces.Options {
  return Object.assign({ root, pjson: sourcePackage(root), userPlugins: false }, seams && { seams });
}

/** Runs a command line in this process and resolves to its exit code. */
export async function runOclif(argv: readonly string[], seams: Seams): Promise<number> {
  try {
    return EXIT[((await run([...argv], sourceOptions(seams))) as ExitName | undefined) ?? 'done'];
  } catch (thrown) {
    const { oclif } = thrown as Partial<Errors.CLIError>;
    if (oclif?.exit === undefined) throw thrown;
    return oclif.exit;
  }
}
