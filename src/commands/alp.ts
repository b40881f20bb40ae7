import { BaseCommand } from '../cli/base-command.ts';
import { described } from '../cli/description.ts';
import { actingFlags, connectionFlags, outputFlags, targetFlags } from '../cli/flags.ts';
import { only } from '../cli/slice.ts';
import { runStageCommand } from '../cli/stage-command.ts';
import { alpFlags } from '../cli/stage-flags.ts';
import type { ExitName } from '../kernel/fault.ts';

export class Alp extends BaseCommand {
  static override summary = 'Update the mesh’s sidecar template, then restart what still carries an older sidecar';
  static override procedure = '§4.6';
  static override description = described(
    `Puts the target's template for the installed mesh into the injector, with your edits kept.
Then restarts only workloads whose pods have an older sidecar, batch by batch, and waits for each.
Pods without a controller, Jobs, paused Deployments and workloads whose disruption budget is spent are manual steps.
Within --max-failed, workloads whose new pods fail are named and not restarted again; beyond it the command stops.
A second run continues with what is still old.`,
    { when: 'After apply and wait, where NS-702 says that application layer policy is in use.' },
  );
  static override examples = [
    '<%= config.bin %> alp --dry-run=client',
    '<%= config.bin %> alp --batch=5 --max-failed=1',
    '<%= config.bin %> alp --only-template',
    '<%= config.bin %> alp -n shop -l app=web',
    '<%= config.bin %> alp --undo',
  ];
  static override flags = {
    ...alpFlags,
    ...actingFlags,
    ...targetFlags,
    ...outputFlags,
    ...connectionFlags,
  };

  async run(): Promise<ExitName> {
    const { flags } = await this.parse(Alp, this.words());
    return runStageCommand({ ...this.asked(flags, this.typed), select: only('alp') }, this.seams);
  }
}
