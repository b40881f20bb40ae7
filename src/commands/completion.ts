import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { BaseCommand, described } from '../cli/base-command.ts';
import { COMPLETION_SCRIPT, COMPLETION_SCRIPTS, installCompletion, isShell, SHELLS } from '../cli/completion-scripts.ts';
import type { ExitName } from '../kernel/fault.ts';

export class Completion extends BaseCommand {
  static override summary = 'Shell completion through kubectl';
  static override procedure = 'none';
  static override description = described(
    `kubectl (1.26 and later) completes plugins by a program named kubectl_complete-netsvc_upgrade on PATH.
show prints it; install writes it beside this program, or to --dir.
bash, zsh and fish print a script for the program called by its own file name, without kubectl:
let the shell read it at its start.
Namespaces and nodes are asked of the API server for 300 ms at most; NETSVC_UPGRADE_COMPLETION_MS sets another limit.`,
    { when: 'Once, after the installation.', cluster: false },
  );
  static override examples = ['<%= config.bin %> completion install --dir ~/.krew/bin', '<%= config.bin %> completion show'];
  static override usage = '<%= command.id %> [show|install|bash|zsh|fish] [flags]';
  static override args = { action: Args.string({ description: 'what to do', options: ['show', 'install', ...SHELLS], default: 'show' }) };
  static override flags = { dir: Flags.string({ file: true, helpValue: 'DIR', summary: 'folder on PATH to install to' }) };

  async run(): Promise<ExitName> {
    const { args, flags } = await this.parse(Completion, this.words());
    const { terminal, env } = this.seams;
    const { action } = args;
    if (action === 'install') terminal.out(`${await installCompletion(flags.dir, env)}\n`);
    else terminal.out(isShell(action) ? COMPLETION_SCRIPTS[action] : COMPLETION_SCRIPT);
    return 'done';
  }
}
