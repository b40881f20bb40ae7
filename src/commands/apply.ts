import { BaseCommand } from '../cli/base-command.ts';
import { described } from '../cli/description.ts';
import { actingFlags, connectionFlags, outputFlags, ownerFlags, ownershipFlags, targetFlags } from '../cli/flags.ts';
import { only } from '../cli/slice.ts';
import { runStageCommand } from '../cli/stage-command.ts';
import type { ExitName } from '../kernel/fault.ts';

export class Apply extends BaseCommand {
  static override summary = 'Apply the target release with your own edits kept';
  static override procedure = '§4.2–§4.5';
  static override description = described(
    `Applies the install manifest, the operator manifest or the chart of the target release, in waves.
Edits that were made to the installed manifest are carried over; the plan shows each of them.`,
    { when: 'After preflight and a look at the plan; it starts the rolling update.' },
  );
  static override examples = ['<%= config.bin %> apply --dry-run=server', '<%= config.bin %> apply --upgrade-file=upgrade.yaml'];
  static override flags = { ...actingFlags, ...targetFlags, ...ownerFlags, ...ownershipFlags, ...outputFlags, ...connectionFlags };

  async run(): Promise<ExitName> {
    const { flags } = await this.parse(Apply, this.words());
    return runStageCommand({ ...this.asked(flags, this.typed), select: only('apply') }, this.seams);
  }
}
