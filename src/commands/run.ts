import { described, flagsOf, StageCommand } from '../cli/own-command.ts';

export class Run extends StageCommand {
  static override summary = 'Upgrade: perform all stages, or some of them; resumes an interrupted run';
  static override procedure = 'all';
  static override description = described(
    `Performs the stages in order, each planned from the live cluster. If it is interrupted, run the same command again
and it resumes. Running it on an upgraded cluster changes nothing.`,
    'Once preflight is clean and the plan is agreed. Stages with nothing to do are skipped.',
  );
  static override examples = [
    '<%= config.bin %> run',
    '<%= config.bin %> run --yes --through wait',
    '<%= config.bin %> run --canary 1 --soak 30m',
    '<%= config.bin %> run --include hep',
    '<%= config.bin %> run --plan-file plan.json --yes',
  ];
  static override flags = flagsOf('run');
  protected override readonly usesRecord = 'resumes';
}
