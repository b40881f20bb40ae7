import * as Args from '@oclif/core/args';
import { described, flagsOf, OwnCommand } from '../cli/own-command.ts';

export class Report extends OwnCommand {
  static override summary = 'Print the report of a run, later and from any machine; changes nothing';
  static override procedure = 'none; it reads the record of a run';
  static override description = described(
    `Reads the history that the run stored in the cluster: what was found, done and waited for, and when.
Without RUN-ID, the report of the last run.
The exit code says whether the report could be made; how the run ended is in the report.`,
    'After a run, for those who were not at the terminal.',
  );
  static override examples = ['<%= config.bin %> report', '<%= config.bin %> report --report-file=run.html'];
  static override usage = '<%= command.id %> [RUN-ID] [flags]';
  static override args = { run: Args.string({ ignoreStdin: true, description: 'id of a run, as status shows it' }) };
  static override flags = flagsOf('report');

  async run() {
    return (await import('../cli/ending/command.ts')).runReportCommand(this.asked(), this.args.run, this.seams);
  }
}
