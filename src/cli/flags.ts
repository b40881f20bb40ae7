import { commonFlags } from './common-flags.ts';
import { type Row, rowsOf, type Values } from './flag.ts';
import { stageFlags } from './stage-flags.ts';
import { targetFlags } from './target-flags.ts';

/** The one table of flags, in the order of the help. */
export const flags = { ...stageFlags, ...targetFlags, ...commonFlags };

/** The values of flags as parsed: flag over environment over default. */
export type RunFlags = Values<typeof flags> & { readonly forget?: boolean };

export const FLAG_ROWS: readonly (readonly [string, Row])[] = rowsOf(flags);

/** The flags of a command, as its class has them: a value that it does not have is never there. */
export function flagsOf(command: string): typeof flags {
  const rows = FLAG_ROWS.filter(([, { on, as }]) => on?.includes(command) || as?.[command]);
  return Object.fromEntries(rows.map(([name, row]) => [name, { ...row, ...row.as?.[command] }])) as unknown as typeof flags;
}

/** Names of the flags that the next command is given as well, in the order in which it is: the connection first. */
export const CARRIED_ROWS = rowsOf(commonFlags, targetFlags, stageFlags).filter(([, { carried }]) => carried);
