import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The folder with programs of the real service, built outside the repository: `calicoctl-TAG`, `fj-TAG` (`docs/internals/control-plane.md`). */
const folder = process.env.NETSVC_UPGRADE_REAL;

/** A program of the real service, or why a test that needs it is skipped. */
export function realProgram(name: string, tag: string): { readonly program: string } | { readonly missing: string } {
  if (folder === undefined || folder === '') return { missing: 'NETSVC_UPGRADE_REAL names no folder with programs of the real service' };
  const program = join(folder, `${name}-${tag}`);
  return existsSync(program) ? { program } : { missing: `NETSVC_UPGRADE_REAL has no ${name}-${tag}` };
}
