import { BaseCommand } from '../cli/base-command.ts';
import { described } from '../cli/description.ts';
import { actingFlags, connectionFlags, outputFlags, ownerFlags, targetFlags } from '../cli/flags.ts';
import { only, preflightWith } from '../cli/slice.ts';
import { runStageCommand } from '../cli/stage-command.ts';
import { preflightFlags } from '../cli/stage-flags.ts';
import type { ExitName } from '../kernel/fault.ts';

export class Preflight extends BaseCommand {
  static override summary = 'Find out what is installed and whether it can be upgraded; changes nothing';
  static override procedure = '§1, §7, §9';
  static override description = described(
    `Reads the cluster and this machine, and checks whether this installation can be upgraded. It changes nothing.
The exception is --probe-images: it starts pods that pull the target's images on every node, and deletes them again.
A failed check ends with exit code 3. explain says what a check means; --accept waives one.`,
    { when: 'Before anything else, as often as you like, and again right before the maintenance window.' },
  );
  static override examples = [
    '<%= config.bin %> preflight',
    '<%= config.bin %> preflight --context=prod -o json',
    '<%= config.bin %> preflight --probe-images',
    '<%= config.bin %> preflight --read-only',
    '<%= config.bin %> preflight --accept NS-110=DaemonSet/kube-system/netsvc-node',
  ];
  static override flags = {
    ...preflightFlags,
    ...actingFlags,
    ...targetFlags,
    ...ownerFlags,
    ...outputFlags,
    ...connectionFlags,
  };

  async run(): Promise<ExitName> {
    const { flags } = await this.parse(Preflight, this.words());
    return runStageCommand(
      { ...this.asked(flags, this.typed), select: flags['probe-images'] ? preflightWith('probe-images') : only('preflight') },
      this.seams,
    );
  }
}
