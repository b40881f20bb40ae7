import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../cli/base-command.ts';
import { described } from '../cli/description.ts';
import { demoOutputFlags } from '../cli/flags.ts';
import type { ExitName } from '../kernel/fault.ts';

export class Demo extends BaseCommand {
  static override summary = 'Perform the whole chain on an in-memory cluster; touches no real one';
  static override description = described(
    'Shows a whole upgrade in half a minute. No kubeconfig is read and nothing outside this process is changed.',
    'all',
    { when: 'Before the first upgrade, to see what it looks like.', cluster: false },
  );
  static override examples = ['<%= config.bin %> demo', '<%= config.bin %> demo --keep-going'];
  static override flags = {
    fast: Flags.boolean({ helpGroup: 'run', summary: 'without pauses' }),
    'keep-going': Flags.boolean({
      helpGroup: 'run',
      summary: 'a node gets stuck: the wait times out, the node is mended, the same command continues',
    }),
    ...demoOutputFlags,
  };

  async run(): Promise<ExitName> {
    const { flags } = await this.parse(Demo, this.words());
    const { runDemo } = await import('../cli/demo.ts');
    return runDemo({ flags, typed: this.asked(flags, this.typed).typed, seams: this.seams });
  }
}
