import type { CheckId } from '../kernel/check.ts';
import { chain } from './chain.ts';

/** The title of every check by its id, in the order of the ids. */
export const checkTitles: Readonly<Record<string, string>> = Object.fromEntries(
  chain
    .flatMap(({ checks }) => checks)
    .map(({ id, title }): [string, string] => [id, title])
    .sort(([a], [b]) => (a < b ? -1 : 1)),
);

/** Ids that were given out and are so no more, with the id under which their check continues. */
export const withdrawn: Readonly<Record<CheckId, CheckId>> = {
  'NS-203': 'NS-104',
  'NS-427': 'NS-221',
  'NS-805': 'NS-309',
};
