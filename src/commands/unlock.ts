import { described, flagsOf, OwnCommand } from '../cli/own-command.ts';

export class Unlock extends OwnCommand {
  static override summary = 'Show who holds the lock, and release it when told so';
  static override procedure = 'none; it guards the run record';
  static override description = described(
    `A lock is renewed while its run lives, and free a minute after the run is gone.
A lock that was renewed since it was shown is not released (exit code 6).
Release another run's lock only when you know that the run is dead: two runs at once can harm the cluster.`,
    'When a command ends with exit code 6 and status names a run that is gone for good.',
  );
  static override examples = ['<%= config.bin %> unlock', '<%= config.bin %> unlock --yes'];
  static override flags = flagsOf('unlock');

  async run() {
    return (await import('../cli/unlock-command.ts')).runUnlockCommand(this.asked(), this.seams);
  }
}
