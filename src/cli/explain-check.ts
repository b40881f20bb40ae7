import { readFile } from 'node:fs/promises';
import { Fault } from '../core/fault.ts';
import { columns } from '../ui/columns.ts';
import { unknownCheck } from './options.ts';

/** The page of a check, or the list of all checks. Throws Fault('usage') for an id that no check has. */
export async function explainCheck(written: string | undefined): Promise<string> {
  const { registry } = await import('../checks/registry.ts');
  const ids = Object.keys(registry);
  if (written === undefined)
    return columns(Object.entries(registry))
      .map((line) => `${line}\n`)
      .join('');
  const id = written
    .trim()
    .toUpperCase()
    .replace(/^(?:NS)?-?(?=\d{3}$)/, 'NS-');
  if (!ids.includes(id)) throw unknownCheck(id, ids, 'explain');
  return pageOf(id);
}

/** Pages lie in dist/docs/checks of a build, and in docs/checks of the sources. */
async function pageOf(id: string): Promise<string> {
  for (const folder of ['../docs/checks/', '../../docs/checks/']) {
    try {
      return await readFile(new URL(`${folder}${id}.md`, import.meta.url), 'utf8');
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown;
    }
  }
  throw new Fault('failed', `the page of ${id} is not part of this installation`, ['install the program again']);
}
