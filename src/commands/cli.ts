import { BaseCommand } from '../cli/base-command.ts';
import { described } from '../cli/description.ts';
import { actingFlags, connectionFlags, outputFlags, targetFlags } from '../cli/flags.ts';
import { only } from '../cli/slice.ts';
import { runStageCommand } from '../cli/stage-command.ts';
import type { ExitName } from '../kernel/fault.ts';

export class Cli extends BaseCommand {
  static override summary = 'Replace old command-line tools of the service by the new one';
  static override procedure = '§1/4, §4.4/4, §4.5/4';
  static override description = described(
    `Moves old copies of the CLI aside, installs the one of the target release, and says how it reaches the datastore.`,
    { when: "After the rolling update, on each machine where the service's CLI is used." },
  );
  static override examples = ['<%= config.bin %> cli --bin-dir=/usr/local/bin'];
  static override flags = { ...actingFlags, ...targetFlags, ...outputFlags, ...connectionFlags };

  async run(): Promise<ExitName> {
    const { flags } = await this.parse(Cli, this.words());
    return runStageCommand({ ...this.asked(flags, this.typed), select: only('cli') }, this.seams);
  }
}
