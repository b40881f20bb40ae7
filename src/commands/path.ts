import { described, flagsOf, OwnCommand } from '../cli/own-command.ts';

export class Path extends OwnCommand {
  static override summary = 'Show which releases lie between here and the target, with those of Kubernetes';
  static override procedure = 'none; it goes by what upstream tested';
  static override description = described(
    `Finds the shortest way on which upstream tested every state: upgrades of the service and of Kubernetes, in order, with their commands.
With --from and --kubernetes it asks no cluster. It changes nothing. Exit code 3: there is no such way.`,
    'Before you plan the upgrade of an old cluster, or when NS-002 refuses the version of Kubernetes.',
  );
  static override examples = [
    '<%= config.bin %> path',
    '<%= config.bin %> path --from v3.26.4 --kubernetes 1.27',
    '<%= config.bin %> path --from v3.28.1 --kubernetes 1.30 --path operator -o json',
  ];
  static override flags = flagsOf('path');

  async run() {
    return (await import('../cli/path-command.ts')).runPathCommand(this.asked(), this.seams);
  }
}
