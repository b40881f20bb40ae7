import * as Flags from '@oclif/core/flags';
import { BaseCommand, described } from '../cli/base-command.ts';
import { DEMO_SCENARIO_NAMES } from '../cli/demo-scenarios.ts';
import { flagsOf } from '../cli/flags.ts';
import type { ExitName } from '../kernel/fault.ts';

const { yes, ...output } = flagsOf('demo');

export class Demo extends BaseCommand {
  static override summary = 'Perform the whole chain on an in-memory cluster; touches no real one';
  static override procedure = 'all';
  static override description = described(
    `Shows in half a minute what run shows: the plan, the question, the rolling update and the last lines. --scenario shows what a run
says in trouble, and ends with the exit code that run has then. No kubeconfig is read and nothing outside this process is changed.`,
    { when: 'Before the first upgrade, to see what it looks like.', cluster: false },
  );
  static override examples = [
    '<%= config.bin %> demo',
    '<%= config.bin %> demo --scenario image-pull',
    '<%= config.bin %> demo --yes --scenario interrupted',
    '<%= config.bin %> demo --yes --keep-going',
  ];
  static override flags = {
    yes,
    scenario: Flags.option({
      helpGroup: 'run',
      options: DEMO_SCENARIO_NAMES,
      exclusive: ['keep-going'],
      summary: 'trouble that the run meets; without it all goes well',
    })(),
    fast: Flags.boolean({ helpGroup: 'run', summary: 'without pauses' }),
    'keep-going': Flags.boolean({
      helpGroup: 'run',
      summary: 'a node gets stuck: the wait times out, the node is fixed, the same command continues',
    }),
    ...output,
  };

  async run(): Promise<ExitName> {
    const { flags } = await this.parse(Demo, this.words());
    const { runDemo } = await import('../cli/demo.ts');
    const { typed, commands } = this.asked(flags, this.typed);
    return runDemo({ flags, typed, commands, seams: this.seams });
  }
}
