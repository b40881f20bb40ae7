import type { KeptItem, Records } from '../core/ports.ts';
import type { StageId } from '../core/stage.ts';

/** What a stage kept before it changed things, of the latest run in which it did, in the order of keeping. Ids begin with the run's. */
export async function latestKept(records: Pick<Records, 'keptWith'>, stage: StageId): Promise<readonly KeptItem[]> {
  const all = await records.keptWith(`/${stage}/`);
  const latest = all.at(-1)?.id.split('/')[0];
  return all.filter(({ id }) => id.split('/')[0] === latest).toSorted((a, b) => numberOf(a) - numberOf(b));
}

/** Items of a run are numbered as they are kept: `…#12`. */
function numberOf({ id }: KeptItem): number {
  return Number(/#(\d+)$/.exec(id)?.[1] ?? 0);
}
