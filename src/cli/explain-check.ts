import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Fault } from '../kernel/fault.ts';
import { columns } from '../report/columns.ts';
import { unknownCheck } from './options.ts';

/** The page of a check, or the list of all checks. Throws Fault('usage') for an id that no check has. */
export async function explainCheck(written: string | undefined): Promise<string> {
  const { registry, withdrawn } = await import('../kernel/check-titles.ts');
  const ids = Object.keys(registry);
  if (written === undefined)
    return columns(Object.entries(registry))
      .map((line) => `${line}\n`)
      .join('');
  const id = written
    .trim()
    .toUpperCase()
    .replace(/^(?:NS)?-?(?=\d{3}$)/, 'NS-');
  if (!ids.includes(id)) throw unknownCheck(id, ids, 'explain', withdrawn);
  return pageOf(id);
}

/** Two folders above, in the sources, in dist and in what is installed alike (docs/internals/decisions/start-up.md). */
const DOCUMENTS = new URL('../../docs/', import.meta.url);

/** The page; where it leads to other documents, it says where they lie: in a terminal nothing can be clicked. */
async function pageOf(id: string): Promise<string> {
  const text = await readFile(new URL(`checks/${id}.md`, DOCUMENTS), 'utf8').catch((thrown: unknown) => {
    throw new Fault('failed', `the page of ${id} is not part of this installation`, ['install the program again'], thrown);
  });
  return /\]\((?!\w+:)/.test(text)
    ? `${text.trimEnd()}\n\nThe links are to files of ${fileURLToPath(new URL('checks/', DOCUMENTS))}\n`
    : text;
}
