import * as Args from '@oclif/core/args';
import { described, flagsOf, OwnCommand } from '../cli/own-command.ts';
import { command } from '../kernel/command.ts';
import { Fault } from '../kernel/fault.ts';
import { look, text } from '../kernel/step.ts';

export class Ownerrefs extends OwnCommand {
  static override summary = 'Remove ownerReferences that the upgrade can invalidate, and restore them with the new UIDs';
  static override procedure = '§4.8';
  static override description = described(
    `list: every object that names a resource of the service as its owner, and whether it is removed before the upgrade.
strip: records the references that the upgrade can invalidate (NS-701 has the rule) in a journal in the cluster, then removes them.
restore: waits for the new API server and for the new names of policies, then puts each reference back
at its old place with its owner's new UID. Add --undo to put them back before the upgrade, if you decide against it.
forget: writes the journal to a file and deletes it, once everything is back. run does all of this by itself.`,
    'Before an upgrade across v3.28 or to the release that renames policies, and after it; run does both at the right time.',
  );
  static override examples = [
    '<%= config.bin %> ownerrefs',
    '<%= config.bin %> ownerrefs list --owner NetworkSet/frontends -n shop -o wide',
    '<%= config.bin %> ownerrefs strip --dry-run=client',
    '<%= config.bin %> ownerrefs restore --yes',
  ];
  static override usage = '<%= command.id %> [list|strip|restore|forget] [flags]';
  static override args = {
    action: Args.string({ ignoreStdin: true, description: 'what to do', options: ['list', 'strip', 'restore', 'forget'], default: 'list' }),
  };
  static override flags = flagsOf('ownerrefs');

  async run() {
    const { flags } = this;
    const { action = '' } = this.args;
    const asked = this.asked(action === 'forget' ? { ...flags, forget: true } : flags);
    assertMeant(action, flags);
    if (action === 'list') return (await import('../cli/owner-list-command.ts')).runOwnerList(asked, flags.owner, this.seams);
    return (await import('../cli/stage-command.ts')).runStageCommand(asked, this.seams);
  }
}

/** A flag of another action would be passed over silently: `strip --owner=IPPool/a` removes references everywhere, `strip --undo` as well. */
function assertMeant(action: string, flags: { readonly owner?: string; readonly undo?: boolean }): void {
  if (flags.owner !== undefined && action !== 'list')
    throw new Fault('usage', `--owner is for list alone: ${action} works on the whole cluster`, [
      look(text`see what it concerns first: ${command`kubectl netsvc-upgrade ownerrefs list --owner=${flags.owner}`}`),
      'then leave --owner out',
    ]);
  if (flags.undo && action !== 'restore')
    throw new Fault('usage', `--undo is for restore alone, not for ${action}`, [
      text`put back what strip removed: ${command`kubectl netsvc-upgrade ownerrefs restore --undo`}`,
    ]);
}
