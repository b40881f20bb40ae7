import { described, flagsOf, StageCommand } from '../cli/own-command.ts';

export class Hep extends StageCommand {
  static override summary = 'Migrate to automatic host endpoints, with a verdict for every node first';
  static override procedure = '§4.7';
  static override description = described(
    `Says for every node what applies to its host now and what will: as soon as automatic endpoints are enabled,
and once its old endpoint is gone. It stops at hosts that would be opened, get their first policies or get other policies,
until you accept each by name.
Then it copies the labels of old all-interfaces endpoints to their nodes and enables automatic endpoints.
When each node has its own with these labels, it deletes the old ones node by node, the first one alone.`,
    'After wait, when the controllers are to create the host endpoints; in the chain with run --include hep.',
  );
  static override examples = [
    '<%= config.bin %> hep --dry-run=client -o wide',
    '<%= config.bin %> hep --accept NS-712=node-01',
    '<%= config.bin %> hep --undo',
  ];
  static override flags = flagsOf('hep');
}
