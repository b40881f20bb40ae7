import { command } from '../../kernel/argv.ts';
import type { Context } from '../../kernel/context.ts';

/**
 * Shows the policies of a key-value store: all of them. One that an older release stored has a prefix there which the list leaves out, and is
 * not found by the name that the list shows. Without the file that this command was given, the CLI would show those of another store.
 */
export function showPoliciesByCli({ profile: { cli }, options: { cliConfig } }: Pick<Context, 'profile' | 'options'>): string {
  const config = cliConfig === undefined ? [] : [`--config=${cliConfig}`];
  return command`${cli.program} get globalnetworkpolicies -o yaml ${config}`.trimEnd();
}
