import type { KubeObject } from '../../kernel/object.ts';
import type { KeptItem } from '../../kernel/run-record.ts';
import { isTakenBack } from './kept.ts';
import type { KeptOfMigration } from './well-formed.ts';

/**
 * Who removed an old endpoint: the migration, or somebody else before its turn or after it was put back. `untold`: the program was killed
 * between its notes before and after the deletion, or wrote none.
 */
export type Remover = 'migration' | 'other' | 'untold';

/** An old endpoint as it was last kept. */
export interface KeptEndpoint {
  readonly endpoint: KubeObject;
  readonly remover: Remover;
}

/** Every old endpoint that the migration was about to delete, by name; what happened last counts. */
export function keptEndpoints(kept: readonly KeptItem[]): ReadonlyMap<string, KeptEndpoint> {
  const found = new Map<string, KeptEndpoint>();
  for (const item of kept) {
    const { endpoints = [], recreated } = item.content as KeptOfMigration;
    for (const endpoint of endpoints) {
      const { name, uid } = endpoint.metadata;
      const [earlier, remover] = [found.get(name), removerOf(item, name)];
      // A killed program's request may have arrived after the next program looked: nobody knows who was first.
      const isOld = remover === 'other' && earlier?.remover === 'untold' && earlier.endpoint.metadata.uid === uid;
      found.set(name, { endpoint, remover: isOld ? 'untold' : remover });
    }
    const back = recreated === undefined ? undefined : found.get(recreated);
    if (back && item.outcome?.done) found.set(back.endpoint.metadata.name, { ...back, remover: 'other' });
  }
  return found;
}

/**
 * Old endpoints that this command deleted, for the verdicts at its end; those of an earlier one too, while that one did not come to its end
 * (`isUnended`). What is there again is not among them.
 */
export function removedLately({ kept, stored }: Lately, startedAt: Date, isUnended: boolean): readonly KubeObject[] {
  const there = new Set(stored.map(({ metadata }) => metadata.name));
  const last = kept.findLast((item) => (item.content as KeptOfMigration).since !== undefined);
  const earlier = isUnended ? (last?.content as KeptOfMigration | undefined)?.since : undefined;
  return kept.flatMap((item) => {
    const { endpoints = [], since } = item.content as KeptOfMigration;
    if (since === undefined || (since !== startedAt.toISOString() && since !== earlier)) return [];
    return endpoints.filter(({ metadata: { name } }) => !there.has(name) && removerOf(item, name) !== 'other');
  });
}

interface Lately {
  readonly kept: readonly KeptItem[];
  readonly stored: readonly KubeObject[];
}

function removerOf({ outcome }: KeptItem, name: string): Remover {
  if (!outcome) return 'untold';
  return outcome.done && !outcome.except?.includes(name) ? 'migration' : 'other';
}

/** True once the migration has removed an old endpoint since it enabled automatic ones, or an earlier one was undone. */
export function hasRemoved(kept: readonly KeptItem[]): boolean {
  const begun = kept.findLastIndex((item) => (item.content as KeptOfMigration).configuration !== undefined || isTakenBack(item));
  return kept.slice(begun + 1).some((item) => {
    const { endpoints = [] } = item.content as KeptOfMigration;
    return endpoints.some(({ metadata }) => removerOf(item, metadata.name) === 'migration');
  });
}
