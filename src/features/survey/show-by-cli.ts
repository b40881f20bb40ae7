import { command } from '../../kernel/argv.ts';
import type { Context } from '../../kernel/context.ts';

/** Shows a policy of a key-value store. Without the file that this command was given, the CLI would show that of another store. */
export function showPolicyByCli({ profile: { cli }, options: { cliConfig } }: Pick<Context, 'profile' | 'options'>, name: string): string {
  const config = cliConfig === undefined ? [] : [`--config=${cliConfig}`];
  return command`${cli.program} get globalnetworkpolicy ${name} -o yaml ${config}`.trimEnd();
}
