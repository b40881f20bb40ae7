import { described, flagsOf, StageCommand } from '../cli/own-command.ts';

export class Rollback extends StageCommand {
  static override summary = 'Go back to the release that the last upgrade came from; resumes an interrupted rollback';
  static override procedure = 'none';
  static override description = described(
    `Takes the recorded upgrade back, step by step: what it wrote gets its former state, and what people have changed since is carried along.
CRDs stay as they are. It says before the first write whether there is a way back from here, and refuses where there is none.`,
    'When the new release does not do. Not for a canary that failed alone: read docs/use/going-back.md first.',
  );
  static override examples = [
    '<%= config.bin %> rollback --dry-run=client',
    '<%= config.bin %> rollback',
    '<%= config.bin %> rollback --canary 1 --soak 30m',
  ];
  static override flags = flagsOf('rollback');
  protected override readonly usesRecord = 'resumes';
}
