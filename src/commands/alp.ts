import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../cli/base-command.ts';
import { described } from '../cli/description.ts';
import { actingFlags, connectionFlags, outputFlags, targetFlags } from '../cli/flags.ts';
import { only } from '../cli/slice.ts';
import { runStageCommand } from '../cli/stage-command.ts';
import type { ExitName } from '../kernel/fault.ts';

const group = { helpGroup: 'run' } as const;

export class Alp extends BaseCommand {
  static override summary = 'Update the mesh’s sidecar template, then restart what still carries an older sidecar';
  static override description = described(
    `Where application layer policy is in use: puts the target's template for the installed mesh into the injector,
with your edits kept, then restarts only workloads whose pods have an older sidecar, batch by batch, each waited for.
Pods without a controller, Jobs, paused Deployments and workloads whose disruption budget is spent are left to you.
Within --max-failed, workloads whose new pods fail are left behind and named; beyond it the command stops.
A second run continues with what is still old.`,
    '§4.6',
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
    template: Flags.string({ ...group, helpValue: 'FILE', summary: 'template of your own instead of the release’s' }),
    'only-template': Flags.boolean({ ...group, summary: 'restart nothing' }),
    'max-unavailable-workloads': Flags.integer({
      ...group,
      helpValue: 'N',
      min: 1,
      exclusive: ['batch'],
      summary: 'the same as --batch: no more workloads than this are restarting at a time',
    }),
    batch: Flags.integer({ ...group, helpValue: 'N', min: 1, summary: 'workloads restarted at a time (default 1)' }),
    all: Flags.boolean({ ...group, summary: 'restart every meshed workload, those with a new sidecar too' }),
    selector: Flags.string({ ...group, char: 'l', helpValue: 'SELECTOR', summary: 'only pods with these labels' }),
    undo: Flags.boolean({ ...group, summary: 'put the former template back' }),
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
