import { described, flagsOf, OwnCommand } from '../cli/own-command.ts';

export class Plan extends OwnCommand {
  static override summary = 'Show what run would do: every command and patch, in order; changes nothing';
  static override procedure = 'all';
  static override description = described(
    `Shows what changes per object, also what kubectl's own dry run hides, fields taken from other managers, and leftovers.
Then it shows the pods that restart, every command and patch in order, and the point of no return.
--diff shows each object as a unified diff instead, for a pager or a diff viewer.
-o images prints the images that the nodes will pull, one a line, for a mirror or for pulling them beforehand.
--for-git writes the merged manifests and the renamed policies, so that the next sync of Argo CD or Flux changes nothing.`,
    'After preflight, to read or to have approved what run will do; --out keeps it, and run --plan-file refuses any other.',
  );
  static override examples = [
    '<%= config.bin %> plan',
    '<%= config.bin %> plan -o wide',
    '<%= config.bin %> plan --diff',
    '<%= config.bin %> plan -o images',
    '<%= config.bin %> plan --for-git ./netsvc',
    '<%= config.bin %> plan --out plan.json && <%= config.bin %> run --plan-file plan.json',
  ];
  static override flags = flagsOf('plan');

  async run() {
    const { runPlanCommand } = await import('../cli/plan/command.ts');
    return runPlanCommand(this.asked(), this.seams);
  }
}
