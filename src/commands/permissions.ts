import { described, flagsOf, OwnCommand } from '../cli/own-command.ts';

export class Permissions extends OwnCommand {
  static override summary = 'Print the roles that a command needs';
  static override procedure = 'none; what every stage asks for';
  static override description = described(
    `Prints a ClusterRole, and a Role for each namespace, with exactly the permissions that the command needs.
It goes by the installation of the cluster that it is asked on. With --profile and --path it asks no cluster. Its first lines say whether the role amounts to cluster-admin, and why. With --variant the role names its objects.`,
    'Before you create the account that upgrades, or one that only looks.',
  );
  static override examples = [
    '<%= config.bin %> permissions --for run',
    '<%= config.bin %> permissions --for preflight-read-only --profile calico --path manifest',
    '<%= config.bin %> permissions --for run --profile calico --path manifest --variant calico',
    '<%= config.bin %> permissions --for run --path chart --profile calico',
    '<%= config.bin %> permissions --for probe-network --probe-namespace netsvc-probe',
  ];
  static override flags = flagsOf('permissions');

  async run() {
    return (await import('../cli/permissions-command.ts')).runPermissionsCommand(this.asked(), this.seams);
  }
}
