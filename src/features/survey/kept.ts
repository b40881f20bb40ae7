import { type KeptItem, numberOf, type Records } from '../../kernel/run-record.ts';
import type { StageId } from '../../kernel/stage.ts';

/** What a stage kept before it changed things, run by run, the oldest first; of a run in the order of keeping. Ids begin with the run's, which begins with its time. */
export async function keptByRun(records: Pick<Records, 'keptWith'>, stage: StageId): Promise<readonly (readonly KeptItem[])[]> {
  const runs = Map.groupBy(await records.keptWith(`/${stage}/`), ({ id }) => id.split('/')[0] ?? '');
  return [...runs].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, items]) => items.toSorted((a, b) => numberOf(a) - numberOf(b)));
}

/** What a stage kept on another machine, as stored: whoever may write the state there need not be this operator. */
export async function keptElsewhere(records: Pick<Records, 'keptWith' | 'keptHere'>, stage: StageId): Promise<readonly KeptItem[]> {
  const items = await records.keptWith(`/${stage}/`);
  const isHere = await Promise.all(items.map(({ content }) => records.keptHere(content)));
  return items.filter((_, index) => !isHere[index]);
}
