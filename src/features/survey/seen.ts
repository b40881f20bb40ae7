import type { NotRead, Reading } from '../../kernel/check.ts';
import type { Profile } from '../../kernel/profile.ts';
import type { Inventory } from './inventory.ts';

/** Without these nothing can be said of an installation. */
const NEEDED = ['daemonSets', 'deployments', 'pods', 'configMaps', 'crds', 'installations'] as const;
type Needed = (typeof NEEDED)[number];

/** What was read: first the part of the inventory without which nothing can be said, then second sources, which may be unread. */
export type Seen = Omit<Inventory, Needed> & {
  readonly [N in Needed]: Exclude<Inventory[N], NotRead>['value'];
} & { readonly profile: Profile };

/** All of it, or why parts are missing: an installation is never detected from half of the facts. */
export function seenIn(inventory: Inventory, profile: Profile): Seen | { readonly unread: readonly string[] } {
  const readings = NEEDED.map((name) => ({ name, reading: inventory[name] }));
  const unread = readings.flatMap(({ name, reading }) => ('unread' in reading ? `${name}: ${reading.unread}` : []));
  if (unread.length > 0) return { unread };
  const values = readings.map(({ name, reading }) => [name, valueOr<unknown>(reading, [])]);
  return { ...inventory, ...Object.fromEntries(values), profile };
}

/** The value of a reading, or its replacement where it is only a second source. */
export function valueOr<T>(reading: Reading<T>, otherwise: T): T {
  return 'unread' in reading ? otherwise : reading.value;
}
