import { BaseCommand, described } from '../cli/base-command.ts';
import { outputFlags } from '../cli/flags.ts';
import type { ExitName } from '../core/fault.ts';

export class Demo extends BaseCommand {
  static override summary = 'Perform the whole chain on an in-memory cluster; touches no real one';
  static override description = described(
    'Shows a whole upgrade in a few seconds. No kubeconfig is read and nothing outside this process is changed.',
    'all',
  );
  static override examples = ['<%= config.bin %> demo'];
  static override flags = { ...outputFlags };

  async run(): Promise<ExitName> {
    const { flags } = await this.parse(Demo, this.words());
    const { runDemo } = await import('../cli/demo.ts');
    return runDemo({ flags, seams: this.seams });
  }
}
