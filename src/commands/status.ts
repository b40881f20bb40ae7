import { described, flagsOf, OwnCommand } from '../cli/own-command.ts';

export class Status extends OwnCommand {
  static override summary = 'Show what a run on this cluster did and where it stands; changes nothing';
  static override procedure = 'none; it reads the record of a run';
  static override description = described(
    'Reads the run record and the lock from the cluster, so it works from any machine.',
    'To see who runs what and how far it is, or after a run was interrupted.',
  );
  static override examples = ['<%= config.bin %> status', '<%= config.bin %> status --watch', '<%= config.bin %> status -o json'];
  static override flags = flagsOf('status');

  async run() {
    return (await import('../cli/status-command.ts')).runStatusCommand(this.asked(), this.seams);
  }
}
