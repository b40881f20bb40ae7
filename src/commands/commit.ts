import { described, flagsOf, StageCommand } from '../cli/own-command.ts';

export class Commit extends StageCommand {
  static override summary = 'Continue a run or rollback that stopped after its canary: all other agents, and all later stages';
  static override procedure = 'all';
  static override description = described(
    `Performs what is left of the unfinished run or rollback, without its --canary and --until. Give its other flags again: status prints the command. It first sees that every agent of the new release is ready. Then the
DaemonSet gets back the update strategy that you or the release had set, and replaces the other agents. Refused (exit 64) where no run is unfinished.`,
    'Once run --canary or run --until has stopped, and you have seen that the nodes of the canary work.',
  );
  static override examples = ['<%= config.bin %> commit', '<%= config.bin %> commit --yes --timeout=30m'];
  static override flags = flagsOf('commit');
  protected override readonly usesRecord = 'resumes';
}
