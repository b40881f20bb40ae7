import * as Flags from '@oclif/core/flags';
import { BaseCommand, described } from '../cli/base-command.ts';
import { stateFlags } from '../cli/flags.ts';
import { permissionsText } from '../cli/permissions-command.ts';
import { probePlaceFlags } from '../cli/stage-flags.ts';
import type { ExitName } from '../kernel/fault.ts';

const run = { helpGroup: 'run' } as const;

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
      ...run,
      helpValue: 'COMMAND',
      required: true,
      summary: 'command whose roles to print; preflight-read-only, probe-images, probe-network',
    }),
    path: Flags.option({
      ...run,
      options: ['manifest', 'operator', 'chart', 'kvstore'] as const,
      default: 'manifest' as const,
      summary: 'install path',
    })(),
    profile: Flags.string({ ...run, helpValue: 'NAME|FILE', default: 'netsvc', summary: 'names of the service' }),
    release: Flags.string({ ...run, helpValue: 'TAG', summary: 'release whose names to use; default: the profile’s' }),
    variant: Flags.string({ ...run, helpValue: 'ID', summary: 'manifest variant whose names to use; without it objects of any name' }),
    'state-namespace': { ...stateFlags['state-namespace'], ...run },
    ...probePlaceFlags,
  };

  async run(): Promise<ExitName> {
    const { flags } = await this.parse(Permissions, this.words());
    this.seams.terminal.out(await permissionsText(flags));
    return 'done';
  }
}
