import { BaseCommand } from '../cli/base-command.ts';
import { described } from '../cli/description.ts';
import { connectionFlags, outputFlags, targetFlags } from '../cli/flags.ts';
import { only } from '../cli/slice.ts';
import { runStageCommand } from '../cli/stage-command.ts';
import type { ExitName } from '../kernel/fault.ts';

export class Verify extends BaseCommand {
  static override summary = 'Check the result: versions, pods, leftovers; changes nothing';
  static override procedure = '§4.4/5, §9';
  static override description = described(`Reads the cluster after the upgrade and checks the result.`, {
    when: 'At the end, and whenever you want to know whether the upgrade is complete.',
  });
  static override examples = ['<%= config.bin %> verify -o junit --report-file=verify.xml'];
  static override flags = { ...targetFlags, ...outputFlags, ...connectionFlags };

  async run(): Promise<ExitName> {
    const { flags } = await this.parse(Verify, this.words());
    return runStageCommand({ ...this.asked(flags, this.typed), select: only('verify'), usesRecord: true }, this.seams);
  }
}
