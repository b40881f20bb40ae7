import { BaseCommand, described } from '../cli/base-command.ts';
import { flagsOf } from '../cli/flags.ts';
import { runUnlockCommand } from '../cli/unlock-command.ts';
import type { ExitName } from '../kernel/fault.ts';

export class Unlock extends BaseCommand {
  static override summary = 'Show who holds the lock, and release it when told so';
  static override procedure = 'none; it guards the run record';
  static override description = described(
    `A lock is renewed while its run lives, and free a minute after the run is gone.
Release another run's lock only when you know that the run is dead: two runs at once can harm the cluster.`,
    { when: 'When a command ends with exit code 6 and status names a run that is gone for good.' },
  );
  static override examples = ['<%= config.bin %> unlock', '<%= config.bin %> unlock --yes'];
  static override flags = flagsOf('unlock');

  async run(): Promise<ExitName> {
    const { flags } = await this.parse(Unlock, this.words());
    return runUnlockCommand(this.asked(flags, this.typed), this.seams);
  }
}
