import { described, flagsOf, StageCommand } from '../cli/own-command.ts';

export class Crds extends StageCommand {
  static override summary = 'Install the new custom resource definitions before the new operator starts';
  static override procedure = '§4.2, §4.3';
  static override description = described(
    `Applies the CRDs of the target release on the operator and chart paths.
On the manifest paths the full manifest holds them: nothing to do, exit code 0.`,
    'Before apply on the operator and chart paths.',
  );
  static override examples = ['<%= config.bin %> crds --dry-run=server', '<%= config.bin %> crds --yes'];
  static override flags = flagsOf('crds');
}
