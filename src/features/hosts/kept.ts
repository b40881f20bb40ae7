import { isRecord } from '../../kernel/json.ts';
import type { KeptItem, Records } from '../../kernel/run-record.ts';
import { keptByRun } from '../survey/index.ts';
import type { AddedLabels } from './labels.ts';
import { type KeptOfMigration, wellFormed } from './well-formed.ts';

/** A label that the migration put on a node. */
export interface AddedLabel {
  readonly node: string;
  readonly uid: string;
  readonly key: string;
  readonly value: string;
  /** The configuration before that migration switched automatic endpoints on, if it did. */
  readonly before?: NonNullable<KeptOfMigration['configuration']>;
}

/**
 * What the latest migration kept in all its runs, as an interrupted one continues under a new record. It starts at the latest run that
 * enabled, with runs before it that only set labels; if none enabled, all count.
 */
export async function keptOfMigration(records: Pick<Records, 'keptWith'>): Promise<readonly KeptItem[]> {
  const stored = await keptByRun(records, 'hep');
  const runs = stored.map((items) => items.map((item): KeptItem => ({ ...item, content: wellFormed(item.content) })));
  let from = Math.max(
    runs.findLastIndex((items) => items.some(hasEnabled)),
    0,
  );
  while (runs[from - 1]?.every(isLabels)) from -= 1;
  return runs.slice(from).flat();
}

/** What is no object was kept by nobody. */
const contentOf = ({ content }: KeptItem) => (isRecord(content) ? content : {}) as KeptOfMigration;
const hasEnabled = (item: KeptItem) => contentOf(item).configuration !== undefined;
const isLabels = (item: KeptItem) => contentOf(item).labels !== undefined || contentOf(item).unlabelled !== undefined;

/** The configuration before the migration, unless the undo has disabled automatic endpoints: whoever enabled them since wants them. */
export function keptSetting(kept: readonly KeptItem[]): KeptOfMigration['configuration'] {
  return firstSetting(betweenSwitches(kept).at(-1) ?? []);
}

/** Every label that was put on a node and that no undo is known to have removed: a later one is somebody else's. */
export function keptLabels(kept: readonly KeptItem[]): readonly AddedLabel[] {
  const found = new Map<string, AddedLabel>();
  for (const items of betweenSwitches(kept)) {
    const before = firstSetting(items);
    for (const item of items) {
      const { unlabelled = [] } = contentOf(item);
      for (const one of labelsOf(contentOf(item))) found.set(idOf(one), before ? { ...one, before } : one);
      if (item.outcome?.done) for (const one of unlabelled.flatMap(single)) found.delete(idOf(one));
    }
  }
  return [...found.values()];
}

/** True once the undo is known to have passed the old endpoints: later items are of another migration. */
export function isTakenBack({ content, outcome }: KeptItem): boolean {
  const { switchedOff, unlabelled } = content as KeptOfMigration;
  return outcome?.done === true && (switchedOff !== undefined || unlabelled !== undefined);
}

/** Parted where the undo has switched automatic endpoints off. */
function betweenSwitches(kept: readonly KeptItem[]): readonly (readonly KeptItem[])[] {
  const parts: KeptItem[][] = [[]];
  for (const item of kept) {
    parts.at(-1)?.push(item);
    if (item.outcome?.done && contentOf(item).switchedOff) parts.push([]);
  }
  return parts;
}

const firstSetting = (items: readonly KeptItem[]) => items.map(contentOf).find(({ configuration }) => configuration)?.configuration;

/** Every label that an item says was put on a node. */
export function labelsOf({ labels = [] }: KeptOfMigration): readonly AddedLabel[] {
  return labels.flatMap(single);
}

function single({ node, uid, labels }: AddedLabels): readonly AddedLabel[] {
  return Object.entries(labels).map(([key, value]) => ({ node, uid, key, value }));
}

/** One label of one node. */
export const idOf = ({ uid, key, value }: Pick<AddedLabel, 'uid' | 'key' | 'value'>) => `${uid} ${key}=${value}`;
