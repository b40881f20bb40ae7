import { described, flagsOf, StageCommand } from '../cli/own-command.ts';

export class Verify extends StageCommand {
  static override summary = 'Check the result: versions, pods, leftovers; changes nothing';
  static override procedure = '§4.4/5, §9';
  static override description = described(
    `Reads the cluster after the upgrade and checks the result. Every component has to be of the target release, with every pod ready.
calicoctl (netsvcctl) has to say the same: it is called with the two settings that cli prints, in key-value mode with your configuration file.
Leftovers are named: an older CLI, the temporary policy, owner references without an owner, and pods of kube-system in trouble.`,
    'At the end, and whenever you want to know whether the upgrade is complete.',
  );
  static override examples = ['<%= config.bin %> verify --report-file=verify.html'];
  static override flags = flagsOf('verify');
  protected override readonly usesRecord = 'looks';
}
