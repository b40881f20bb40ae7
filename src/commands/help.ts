import * as Args from '@oclif/core/args';
import { loadHelpClass } from '@oclif/core/help';
import { OwnCommand } from '../cli/own-command.ts';

/** `help run`, as kubectl has it. A word of `additionalHelpFlags` would be help wherever it stands. */
export class Help extends OwnCommand {
  static override hidden = true;
  static override summary = 'Show the help of a command';
  static override args = { command: Args.string({ ignoreStdin: true, description: 'name of a command' }) };
  static override flags = {};

  async run() {
    const OwnHelp = await loadHelpClass(this.config);
    const { command } = this.args;
    await new OwnHelp(this.config, this.config.pjson.oclif.helpOptions).showHelp(command === undefined ? [] : [command]);
    return 'done' as const;
  }
}
