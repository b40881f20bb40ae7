import { type Evidence, Unread } from '../../kernel/check.ts';
import type { DefectText } from '../../kernel/defect.ts';
import { listed } from '../survey/index.ts';
import { seenOn } from './defect-conditions.ts';
import type { DefectWorld } from './defect-world.ts';

/** A row of the profile's tables of which every condition holds here. */
export interface Hit<R extends DefectText> {
  readonly row: R;
  readonly seen: readonly string[];
}

type Found<R extends DefectText> = Hit<R> | Unread;

/** Rows that hit the cluster, and for those of which that cannot be told why not. */
export function holding<R extends DefectText>(rows: readonly R[], world: DefectWorld): readonly Found<R>[] {
  return rows.flatMap((row): readonly Found<R>[] => {
    const seen = row.when.map((condition) => seenOrUnread(condition, world));
    // One condition that does not hold is enough, whatever the others are.
    if (seen.includes(undefined)) return [];
    const unread = seen.find((one) => one instanceof Unread);
    return [unread ?? { row, seen: seen.flatMap((one) => (one instanceof Unread ? [] : (one ?? []))) }];
  });
}

function seenOrUnread(condition: DefectText['when'][number], world: DefectWorld): readonly string[] | Unread | undefined {
  try {
    return seenOn(condition, world);
  } catch (thrown) {
    if (thrown instanceof Unread) return thrown;
    throw thrown;
  }
}

export function hitsOf<R extends DefectText>(found: readonly Found<R>[]): readonly Hit<R>[] {
  return found.flatMap((one) => (one instanceof Unread ? [] : [one]));
}

export function unreadIn(found: readonly Found<DefectText>[]): Unread | undefined {
  return found.find((one) => one instanceof Unread);
}

/** A row is accepted by its id. */
export function evidenceFor({ row: { id, happens, sources }, seen }: Hit<DefectText>): Evidence {
  const where = seen.length > 0 ? ` Seen on: ${listed(seen)}.` : '';
  return { text: id, detail: `${happens}.${where} See ${sources.join(', ')}` };
}
