import { BaseCommand } from '../cli/base-command.ts';
import { described } from '../cli/description.ts';
import { actingFlags, connectionFlags, outputFlags, ownershipFlags, targetFlags } from '../cli/flags.ts';
import { only } from '../cli/slice.ts';
import { runStageCommand } from '../cli/stage-command.ts';
import type { ExitName } from '../kernel/fault.ts';

export class Crds extends BaseCommand {
  static override summary = 'Install the new custom resource definitions before the new operator starts';
  static override procedure = '§4.2, §4.3';
  static override description = described(
    `Applies the CRDs of the target release on the operator and chart paths.
On the manifest paths the full manifest holds them: nothing to do, exit code 0.`,
    { when: 'Before apply on the operator and chart paths.' },
  );
  static override examples = ['<%= config.bin %> crds --dry-run=server', '<%= config.bin %> crds --yes'];
  static override flags = { ...actingFlags, ...targetFlags, ...ownershipFlags, ...outputFlags, ...connectionFlags };

  async run(): Promise<ExitName> {
    const { flags } = await this.parse(Crds, this.words());
    return runStageCommand({ ...this.asked(flags, this.typed), select: only('crds') }, this.seams);
  }
}
