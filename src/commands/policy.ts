import { described, flagsOf, StageCommand } from '../cli/own-command.ts';

export class Policy extends StageCommand {
  static override summary = 'Show what only the temporary policy allows, and delete it when you name it';
  static override procedure = '§4.4/7, §4.5/6';
  static override description = described(
    `The policy of an upgrade from before v3.14 allows all traffic. Says on which hosts everything would be dropped
without it, and asks for a review of the traffic logs. It is deleted only with --delete NAME. A copy is written first, to --backup-dir or
the work folder, and kept in the run record. The end says where the copy is, and the command that creates the policy again.`,
    'Last, when you have reviewed the traffic of the temporary policy.',
  );
  static override examples = ['<%= config.bin %> policy', '<%= config.bin %> policy --delete=allow-all-upgrade'];
  static override flags = flagsOf('policy');
}
