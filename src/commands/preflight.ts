import { described, flagsOf, StageCommand } from '../cli/own-command.ts';

export class Preflight extends StageCommand {
  static override summary = 'Find out what is installed and whether it can be upgraded; changes nothing';
  static override procedure = '§1, §7, §9';
  static override description = described(
    `Reads the cluster and this machine, and checks whether this installation can be upgraded. It changes nothing.
The exception is --probe-nodes: it starts a Job on each of these nodes that tries what the target needs there, and deletes it again.
A failed check ends with exit code 3. explain says what a check means; --accept waives one.`,
    'Before anything else, as often as you like, and again right before the maintenance window.',
  );
  static override examples = [
    '<%= config.bin %> preflight',
    '<%= config.bin %> preflight --context=prod -o json',
    '<%= config.bin %> preflight --probe-nodes all',
    '<%= config.bin %> preflight --read-only',
    '<%= config.bin %> preflight --accept NS-110=DaemonSet/kube-system/calico-node',
  ];
  static override flags = flagsOf('preflight');
}
