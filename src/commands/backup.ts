import { BaseCommand } from '../cli/base-command.ts';
import { described } from '../cli/description.ts';
import { actingFlags, connectionFlags, outputFlags, targetFlags } from '../cli/flags.ts';
import { only } from '../cli/slice.ts';
import { runStageCommand } from '../cli/stage-command.ts';
import type { ExitName } from '../kernel/fault.ts';

export class Backup extends BaseCommand {
  static override summary = 'Write everything of the service that the upgrade can touch to files';
  static override procedure = '§7';
  static override description = described(
    `Writes CRDs, custom resources and the objects of the target manifest to a folder with checksums.
Secrets are left out unless --with-secrets is given. run takes a backup before its first write.`,
    { when: 'Alone, when a copy is wanted long before the upgrade; run takes one by itself.' },
  );
  static override examples = ['<%= config.bin %> backup --backup-dir=./before-v3.32'];
  static override flags = { ...actingFlags, ...targetFlags, ...outputFlags, ...connectionFlags };

  async run(): Promise<ExitName> {
    const { flags } = await this.parse(Backup, this.words());
    return runStageCommand({ ...this.asked(flags, this.typed), select: only('backup') }, this.seams);
  }
}
