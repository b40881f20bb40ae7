import { described, flagsOf, StageCommand } from '../cli/own-command.ts';

export class Alp extends StageCommand {
  static override summary = 'Update the mesh’s sidecar template, then restart what still carries an older sidecar';
  static override procedure = '§4.6';
  static override description = described(
    `Puts the target's template for the installed mesh into the injector, with your changes kept.
That is kubectl apply where the release's file is a whole ConfigMap, and kubectl patch where it is only the data of one, which cannot be applied.
Then restarts only workloads whose pods have an older sidecar, batch by batch, and waits for each. A restart of the others
would change nothing for them (--all restarts them, too).
Pods without a controller, Jobs, paused Deployments and workloads whose disruption budget is spent are manual steps.
Within --max-failed, workloads whose new pods fail are named and not restarted again; beyond it the command stops.
A second run continues with what is still old.`,
    'After apply and wait, where NS-702 says that application layer policy is in use.',
  );
  static override examples = [
    '<%= config.bin %> alp --dry-run=client',
    '<%= config.bin %> alp --batch=5 --max-failed=1',
    '<%= config.bin %> alp --only-template',
    '<%= config.bin %> alp --undo',
  ];
  static override flags = flagsOf('alp');
}
