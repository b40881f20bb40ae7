import { BaseCommand } from '../cli/base-command.ts';
import { described } from '../cli/description.ts';
import { actingFlags, connectionFlags, outputFlags, targetFlags } from '../cli/flags.ts';
import { only } from '../cli/slice.ts';
import { runStageCommand } from '../cli/stage-command.ts';
import { policyFlags } from '../cli/stage-flags.ts';
import type { ExitName } from '../kernel/fault.ts';

export class Policy extends BaseCommand {
  static override summary = 'Show what only the temporary policy allows, and delete it when you name it';
  static override procedure = '§4.4/7, §4.5/6';
  static override description = described(
    `The policy of an upgrade from before v3.14 allows all traffic. Says on which hosts everything would be dropped
without it, and on which other policies would decide; asks for a review of the traffic logs.
It is deleted only with --delete NAME, kept in the run record first, and put back with --undo.`,
    { when: 'Last, when you have reviewed the traffic of the temporary policy.' },
  );
  static override examples = [
    '<%= config.bin %> policy',
    '<%= config.bin %> policy --delete=allow-all-upgrade',
    '<%= config.bin %> policy --undo',
  ];
  static override flags = {
    ...policyFlags,
    ...actingFlags,
    ...targetFlags,
    ...outputFlags,
    ...connectionFlags,
  };

  async run(): Promise<ExitName> {
    const { flags } = await this.parse(Policy, this.words());
    return runStageCommand({ ...this.asked(flags, this.typed), select: only('policy') }, this.seams);
  }
}
