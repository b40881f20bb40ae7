import * as Args from '@oclif/core/args';
import { described, flagsOf, OwnCommand } from '../cli/own-command.ts';

export class Completion extends OwnCommand {
  static override summary = 'Shell completion through kubectl';
  static override procedure = 'none';
  static override description = described(
    `kubectl (1.26 and later) completes plugins by a program named kubectl_complete-netsvc_upgrade on PATH.
show prints it; install writes it beside this program, or to --dir.
bash, zsh and fish print a script for the program called by its own file name, without kubectl:
let the shell read it at its start.
Names of contexts, namespaces and nodes are asked of kubectl.`,
    'Once, after the installation.',
    'local',
  );
  static override examples = ['<%= config.bin %> completion install --dir ~/.krew/bin', '<%= config.bin %> completion show'];
  static override usage = '<%= command.id %> [show|install|bash|zsh|fish] [flags]';
  static override args = {
    action: Args.string({
      ignoreStdin: true,
      description: 'what to do',
      options: ['show', 'install', 'bash', 'zsh', 'fish'],
      default: 'show',
    }),
  };
  static override flags = flagsOf('completion');

  async run() {
    const { completionText } = await import('../cli/completion-scripts.ts');
    this.seams.terminal.out(await completionText(this.args.action, this.flags.dir, this.seams.env));
    return 'done' as const;
  }
}
