import * as Args from '@oclif/core/args';
import { BaseCommand, described } from '../cli/base-command.ts';
import { explainCheck } from '../cli/explain-check.ts';
import type { ExitName } from '../kernel/fault.ts';

export class Explain extends BaseCommand {
  static override summary = 'Say what a check means and how to fix it';
  static override procedure = 'none; pages of the checks';
  static override description = described('Prints the page of a check. Without an id, lists every check.', {
    when: "When a finding's id is not clear, or before you accept it.",
    cluster: false,
  });
  static override examples = ['<%= config.bin %> explain NS-105', '<%= config.bin %> explain'];
  static override usage = '<%= command.id %> [CHECK-ID]';
  static override args = { check: Args.string({ name: 'check-id', description: 'id of a check, such as NS-105' }) };

  async run(): Promise<ExitName> {
    const { args } = await this.parse(Explain, this.words());
    this.seams.terminal.out(await explainCheck(args.check));
    return 'done';
  }
}
