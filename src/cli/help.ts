import { Help } from '@oclif/core/help';

/** oclif's help, which refuses an unknown command as the command itself does. */
export class OwnHelp extends Help {
  override async showHelp(argv: string[]): Promise<void> {
    const [id = ''] = argv;
    // The hook says which command was meant, and ends with 64.
    if (/^[^-]/.test(id) && !this.config.findCommand(id)) await this.config.runHook('command_not_found', { id, argv });
    await super.showHelp(argv);
  }

  /** oclif trims the first flag of a group, which takes the place of a missing short form from it. */
  override formatCommand(command: Parameters<Help['formatCommand']>[0]): string {
    return super
      .formatCommand(command)
      .replaceAll(/^([A-Z ]*FLAGS\n)( {2}--(?:.|\n(?!\n))*)/gm, (group, heading: string, flags: string) =>
        /^ {6}--|^ {2}-\w, /m.test(flags) ? `${heading}    ${flags}` : group,
      );
  }
}
