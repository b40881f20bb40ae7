import { commonFlags, type OUTPUT_FORMATS } from './common-flags.ts';
import { decisionFlags } from './decision-flags.ts';
import type { Row, Values, Wrong } from './flag.ts';
import { paceFlags } from './pace-flags.ts';
import { stageFlags } from './stage-flags.ts';
import { targetFlags } from './target-flags.ts';

const upgradeFlags = { ...targetFlags, ...decisionFlags, ...paceFlags };

/** The one table of flags, in the order of the help. */
export const FLAGS = { ...stageFlags, ...upgradeFlags, ...commonFlags };

/** The same in the order in which the next command is given them: the connection first. */
export const NEXT_FLAGS = { ...commonFlags, ...upgradeFlags, ...stageFlags };

export const FLAG_ROWS: readonly (readonly [string, Row])[] = Object.entries(FLAGS);

/** The values of all flags; of no type where a row names an option of another one. */
export type RunFlags = [Wrong<typeof FLAGS>] extends [never] ? Values<typeof FLAGS> & { readonly forget?: boolean } : never;

export type OutputFormat = (typeof OUTPUT_FORMATS)[number];
