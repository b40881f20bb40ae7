import type { KubeObject } from '../../core/object.ts';
import type { KeptItem, Records } from '../../core/ports.ts';
import { keptByRun } from '../kept.ts';
import type { AddedLabels } from './labels.ts';

/** What actions of the migration kept; each item has one of these. */
export interface KeptOfMigration {
  readonly labels?: readonly AddedLabels[];
  readonly configuration?: { readonly name: string; readonly spec?: unknown };
  readonly endpoints?: readonly KubeObject[];
  /** Name of an old endpoint that the way back created again. */
  readonly recreated?: string;
}

/**
 * What the latest migration kept, in however many runs: one that was cut off is finished under another record once the first is ended.
 * It begins with the latest run that enabled, or with the runs right before that came no further than to the labels; where no run of
 * ours enabled, all of them went on with what a person began.
 */
export async function keptOfMigration(records: Pick<Records, 'keptWith'>): Promise<readonly KeptItem[]> {
  const runs = await keptByRun(records, 'hep');
  let from = Math.max(
    runs.findLastIndex((items) => items.some(hasEnabled)),
    0,
  );
  while (runs[from - 1]?.every(isLabels)) from -= 1;
  return runs.slice(from).flat();
}

const hasEnabled = ({ content }: KeptItem) => (content as KeptOfMigration).configuration !== undefined;
const isLabels = ({ content }: KeptItem) => (content as KeptOfMigration).labels !== undefined;
