import { described, flagsOf, StageCommand } from '../cli/own-command.ts';

export class Apply extends StageCommand {
  static override summary = 'Apply the target release with your own changes kept';
  static override procedure = '§4.2–§4.5';
  static override description = described(
    `Applies the install manifest, the operator manifest or the chart of the target release, in waves.
Edits that were made to the installed manifest are carried over; the plan shows each of them.`,
    'After preflight and a look at the plan; it starts the rolling update.',
  );
  static override examples = ['<%= config.bin %> apply --dry-run=server', '<%= config.bin %> apply --upgrade-file=upgrade.yaml'];
  static override flags = flagsOf('apply');
}
