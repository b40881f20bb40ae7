import { commonFlags, type OUTPUT_FORMATS } from './common-flags.ts';
import type { Row, Values, Wrong } from './flag.ts';
import { stageFlags } from './stage-flags.ts';
import { upgradeFlags } from './upgrade-flags.ts';

/** The one table of flags, in the order of the help. */
export const FLAGS = { ...stageFlags, ...upgradeFlags, ...commonFlags };

export const FLAG_ROWS: readonly (readonly [string, Row])[] = Object.entries(FLAGS);

/** The values of all flags; of no type where a row names an option of another one. */
export type RunFlags = [Wrong<typeof FLAGS>] extends [never] ? Values<typeof FLAGS> & { readonly forget?: boolean } : never;

export type OutputFormat = (typeof OUTPUT_FORMATS)[number];
