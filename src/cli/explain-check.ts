import { Fault } from '../kernel/fault.ts';
import { columns } from '../report/columns.ts';
import { checkIdOf, checkPage } from './check-page.ts';
import { unknownCheck } from './options.ts';

/** The page of a check, or the list of all checks. Throws Fault('usage') for an id that no check has. */
export async function explainCheck(written: string | undefined): Promise<string> {
  const { checkTitles } = await import('../features/chain.ts');
  const ids = Object.keys(checkTitles);
  if (written === undefined)
    return columns(Object.entries(checkTitles))
      .map((line) => `${line}\n`)
      .join('');
  const id = checkIdOf(written);
  if (!ids.includes(id)) throw unknownCheck(id, ids, 'explain');
  try {
    return checkPage(id);
  } catch (thrown) {
    throw new Fault('failed', `the page of ${id} is not part of this installation`, ['install the program again'], thrown);
  }
}
