import * as Args from '@oclif/core/args';
import { BaseCommand, described } from '../cli/base-command.ts';
import { runReportCommand } from '../cli/ending/command.ts';
import { flagsOf } from '../cli/flags.ts';
import type { ExitName } from '../kernel/fault.ts';

export class Report extends BaseCommand {
  static override summary = 'Print the report of a run, later and from any machine; changes nothing';
  static override procedure = 'none; it reads the record of a run';
  static override description = described(
    `Reads the history that the run stored in the cluster: what was found, done and waited for, and when.
Without RUN-ID, the report of the last run. With --support, a file to give to whoever helps you.
The exit code says whether the report could be made; how the run ended is in the report.`,
    { when: 'After a run, for those who were not at the terminal.' },
  );
  static override usage = '<%= command.id %> [RUN-ID] [flags]';
  static override examples = [
    '<%= config.bin %> report',
    '<%= config.bin %> report --report-file=run.html',
    '<%= config.bin %> report --support=support.tgz',
  ];
  static override args = { run: Args.string({ name: 'run-id', description: 'id of a run, as status shows it' }) };
  static override flags = flagsOf('report');

  async run(): Promise<ExitName> {
    const { flags, args } = await this.parse(Report, this.words());
    const asked = this.asked(flags, this.typed);
    if (flags.support === undefined) return runReportCommand(asked, args.run, this.seams);
    return (await import('../cli/support/command.ts')).runSupportCommand(asked, flags.support, args.run, this.seams);
  }
}
