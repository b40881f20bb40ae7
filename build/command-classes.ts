import { commandTable } from '../src/cli/shell.ts';

/** Every command's class by its id, for oclif's manifest. */
export const classes = Object.fromEntries(
  await Promise.all(Object.entries(commandTable).map(async ([id, load]) => [id, await load()] as const)),
);
