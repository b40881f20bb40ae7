import { interrupted } from '../kernel/interruption.ts';
import { commandWords, type UserCommandName, type UserCommands } from '../kernel/user-command.ts';
import type { Environment } from './kubeconfig/connection.ts';
import { runUserProgram, userProgram } from './tools/user-program.ts';

/** What the flags of these names say. */
export type UserCommandTexts = Readonly<Partial<Record<UserCommandName, string>>>;

interface Known {
  readonly program: string;
  readonly args: readonly string[];
}

/** Starts them with these variables besides. */
export type StartWith = (more: () => Promise<Environment>) => UserCommands;

/** The commands that the command line names, each looked up on this machine. Throws Fault('usage') for one that cannot be started. */
export async function openUserCommands(texts: UserCommandTexts, env: Environment): Promise<StartWith> {
  const entries = await Promise.all(
    Object.entries(texts).map(async ([flag, text]): Promise<readonly [string, Known]> => {
      const [name = '', ...args] = commandWords(text, flag);
      return [flag, { program: await userProgram(flag, name, env), args }];
    }),
  );
  const known = new Map(entries);
  return (more) => ({
    async run(name, { node = '', limitMs, signal }) {
      const found = known.get(name);
      if (!found) throw new Error(`no command was given with --${name}`);
      const args = found.args.map((word) => word.replaceAll('{node}', node));
      const { isCut, ...end } = await runUserProgram({ ...found, args, env: { ...env, ...(await more()) }, limitMs, signal });
      if (isCut) throw interrupted();
      return end;
    },
  });
}
