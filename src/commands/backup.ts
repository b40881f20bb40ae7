import { described, flagsOf, StageCommand } from '../cli/own-command.ts';

export class Backup extends StageCommand {
  static override summary = 'Write everything of the service that the upgrade can touch to files';
  static override procedure = '§7';
  static override description = described(
    `Writes CRDs, custom resources and the objects of the target manifest to a folder with checksums.
Secrets are left out unless --with-secrets is given. run takes a backup before its first write.`,
    'Alone, when a copy is wanted long before the upgrade; run takes one by itself.',
  );
  static override examples = ['<%= config.bin %> backup --backup-dir=./before-v3.32'];
  static override flags = flagsOf('backup');
}
