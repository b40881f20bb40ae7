import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Fault } from '../../kernel/fault.ts';
import { assertPlace } from '../output-place.ts';
import { isPlanOfOurs } from './shape.ts';

/**
 * Refuses a file that holds anything but a plan of this program: it is the operator's own, and a plan is written over what was there.
 * An empty file, as `mktemp` makes it, holds nothing to lose. Throws Fault('usage') naming the flag.
 */
export async function assertPlanPlace(file: string | undefined): Promise<void> {
  await assertPlace('--out', file);
  const found = file === undefined ? undefined : await stat(file).catch(() => undefined);
  if (file === undefined || found === undefined) return;
  // A device or a pipe would be replaced by a file of its name.
  if (!found.isFile()) throw new Fault('usage', `--out ${file} is not a file`, ['name a file, or print the plan: -o json']);
  if (found.size === 0 || isPlanOfOurs(await readFile(file, 'utf8').catch(() => ''))) return;
  throw new Fault('usage', `--out ${file} exists and is not a saved plan: it is not overwritten`, [
    `name another file: --out ${anotherPlace(file)}`,
  ]);
}

/** A name for a plan that is not this file's. */
export function anotherPlace(file: string): string {
  return basename(file) === 'plan.json' ? 'new-plan.json' : 'plan.json';
}
