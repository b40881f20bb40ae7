import { described, flagsOf, StageCommand } from '../cli/own-command.ts';

export class Rollback extends StageCommand {
  static override summary = 'Go back to the release that the last upgrade came from; resumes an interrupted rollback';
  static override procedure = 'none';
  static override description = described(
    `Takes the recorded upgrade back, step by step: what it wrote gets its former state, and your changes since then are carried along.
CRDs are not changed. Where a rollback is not possible, it says so and refuses before the first write.`,
    'When the new release does not do what you need. Read docs/use/going-back.md first.',
  );
  static override examples = [
    '<%= config.bin %> rollback --dry-run=client',
    '<%= config.bin %> rollback',
    '<%= config.bin %> rollback --canary 1 --soak 30m',
  ];
  static override flags = flagsOf('rollback');
  protected override readonly usesRecord = 'resumes';
}
