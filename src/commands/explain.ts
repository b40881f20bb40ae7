import * as Args from '@oclif/core/args';
import { described, flagsOf, OwnCommand } from '../cli/own-command.ts';

export class Explain extends OwnCommand {
  static override summary = 'Say what a check means and how to fix it';
  static override procedure = 'none; pages of the checks';
  static override description = described(
    'Prints the page of a check. Without an id, lists every check.',
    "When a finding's id is not clear, or before you accept it.",
    'local',
  );
  static override examples = ['<%= config.bin %> explain NS-105', '<%= config.bin %> explain'];
  static override usage = '<%= command.id %> [CHECK-ID]';
  static override args = { check: Args.string({ ignoreStdin: true, description: 'id of a check, such as NS-105' }) };
  static override flags = flagsOf('explain');

  async run() {
    this.seams.terminal.out(await (await import('../cli/explain-check.ts')).explainCheck(this.args.check));
    return 'done' as const;
  }
}
