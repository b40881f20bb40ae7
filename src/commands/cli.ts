import { described, flagsOf, StageCommand } from '../cli/own-command.ts';

export class Cli extends StageCommand {
  static override summary = 'Replace old command-line tools of the service by the new one';
  static override procedure = '§1/4, §4.4/4, §4.5/4';
  static override description = described(
    `Moves old copies of the CLI aside, installs the one of the target release, and says by which two variables it reaches the datastore.
No configuration file is written unless --cli-config names one that is not there.`,
    'After the rolling update, on each machine where calicoctl (netsvcctl) is used.',
  );
  static override examples = ['<%= config.bin %> cli --bin-dir=/usr/local/bin'];
  static override flags = flagsOf('cli');
}
