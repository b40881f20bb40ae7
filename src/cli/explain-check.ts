import { Fault } from '../kernel/fault.ts';
import { columns } from '../report/columns.ts';
import { checkIdOf, checkPage } from './check-page.ts';
import { unknownCheck } from './options.ts';

/** The page of a check, or the list of all checks. Throws Fault('usage') for an id that no check has. */
export async function explainCheck(written: string | undefined): Promise<string> {
  if (written === undefined) return `${columns(Object.entries((await checks()).checkTitles)).join('\n')}\n`;
  const id = checkIdOf(written);
  try {
    return checkPage(id);
  } catch (thrown) {
    const { checkTitles } = await checks();
    if (!Object.hasOwn(checkTitles, id)) throw unknownCheck(id, Object.keys(checkTitles), 'explain');
    throw new Fault('failed', `the page of ${id} is not part of this installation`, ['install the program again'], thrown);
  }
}

/** All of them: much to load for one page. */
function checks() {
  return import('../features/chain.ts');
}
