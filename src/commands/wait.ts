import { BaseCommand } from '../cli/base-command.ts';
import { described } from '../cli/description.ts';
import { connectionFlags, outputFlags, targetFlags } from '../cli/flags.ts';
import { only } from '../cli/slice.ts';
import { runStageCommand } from '../cli/stage-command.ts';
import type { ExitName } from '../kernel/fault.ts';

export class Wait extends BaseCommand {
  static override summary = 'Follow the rolling update, node by node; changes nothing';
  static override description = described(
    `Watches until every pod runs the target release and is ready, and says why one is late.
Can be interrupted and started again at any time.`,
    '§4.4/3, §4.5/3',
    { when: 'During the rolling update, beside apply or after it, from any machine.' },
  );
  static override examples = ['<%= config.bin %> wait --timeout=30m'];
  static override flags = { ...targetFlags, ...outputFlags, ...connectionFlags };

  async run(): Promise<ExitName> {
    const { flags } = await this.parse(Wait, this.words());
    return runStageCommand({ ...this.asked(flags, this.typed), select: only('wait'), usesRecord: true }, this.seams);
  }
}
