import { BaseCommand, described } from '../cli/base-command.ts';
import { flagsOf } from '../cli/flags.ts';
import { runStatusCommand } from '../cli/status-command.ts';
import type { ExitName } from '../kernel/fault.ts';

export class Status extends BaseCommand {
  static override summary = 'Show what a run on this cluster did and where it stands; changes nothing';
  static override procedure = 'none; it reads the record of a run';
  static override description = described('Reads the run record and the lock from the cluster, so it works from any machine.', {
    when: 'To see who runs what and how far it is, or after a run was interrupted.',
  });
  static override examples = ['<%= config.bin %> status', '<%= config.bin %> status --watch', '<%= config.bin %> status -o json'];
  static override flags = flagsOf('status');

  async run(): Promise<ExitName> {
    const { flags } = await this.parse(Status, this.words());
    return runStatusCommand(this.asked(flags, this.typed), this.seams);
  }
}
