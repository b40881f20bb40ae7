import { described, flagsOf, StageCommand } from '../cli/own-command.ts';

export class Verify extends StageCommand {
  static override summary = 'Check the result: versions, pods, leftovers; changes nothing';
  static override procedure = '§4.4/5, §9';
  static override description = described(
    `Reads the cluster after the upgrade and checks the result.`,
    'At the end, and whenever you want to know whether the upgrade is complete.',
  );
  static override examples = ['<%= config.bin %> verify --report-file=verify.html'];
  static override flags = flagsOf('verify');
  protected override readonly usesRecord = true;
}
