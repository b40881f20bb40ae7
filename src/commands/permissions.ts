import * as Flags from '@oclif/core/flags';
import { BaseCommand, described } from '../cli/base-command.ts';
import { flagsOf } from '../cli/flags.ts';
import { permissionsText, type RoleRequest } from '../cli/permissions-command.ts';
import type { ExitName } from '../kernel/fault.ts';

const { 'probe-namespace': place, ...scope } = flagsOf('permissions');

export class Permissions extends BaseCommand {
  static override summary = 'Print the roles that a command needs';
  static override procedure = 'none; what every stage asks for';
  static override description = described(
    `Prints a ClusterRole, and a Role for each namespace, with exactly the permissions that the command needs.
Its first lines say whether the role amounts to cluster-admin, and why. With --variant the role names its objects.`,
    { when: 'Before you create the account that upgrades, or one that only looks.', cluster: false },
  );
  static override examples = [
    '<%= config.bin %> permissions --for preflight-read-only',
    '<%= config.bin %> permissions --for run --profile calico --variant calico',
    '<%= config.bin %> permissions --for run --path chart --profile calico',
    '<%= config.bin %> permissions --for probe-network --probe-namespace netsvc-probe',
  ];
  static override flags = {
    for: Flags.string({
      helpGroup: 'run',
      helpValue: 'COMMAND',
      required: true,
      summary: 'command whose roles to print; preflight-read-only, probe-images, probe-network',
    }),
    ...scope,
    'probe-namespace': place,
  };

  async run(): Promise<ExitName> {
    const { flags } = await this.parse(Permissions, this.words());
    this.seams.terminal.out(await permissionsText(flags as RoleRequest));
    return 'done';
  }
}
