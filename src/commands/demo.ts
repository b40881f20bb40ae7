import { described, flagsOf, OwnCommand } from '../cli/own-command.ts';

export class Demo extends OwnCommand {
  static override summary = 'Perform the whole chain on an in-memory cluster; touches no real one';
  static override procedure = 'all';
  static override description = described(
    `Shows in half a minute what run shows: the plan, the question, the rolling update and the last lines. --scenario shows what a run
says in trouble, or a rollback, and ends with the exit code that run has then. No kubeconfig is read and nothing outside this process is changed.`,
    'Before the first upgrade, to see what it looks like.',
    'local',
  );
  static override examples = [
    '<%= config.bin %> demo',
    '<%= config.bin %> demo --scenario image-pull',
    '<%= config.bin %> demo --scenario canary-fails',
    '<%= config.bin %> demo --yes --scenario interrupted',
    '<%= config.bin %> demo --scenario rollback',
    '<%= config.bin %> demo --yes --keep-going',
  ];
  static override flags = flagsOf('demo');

  async run() {
    const { typed, commands } = this.asked();
    return (await import('../cli/demo.ts')).runDemo({ flags: this.flags, typed, commands, seams: this.seams });
  }
}
