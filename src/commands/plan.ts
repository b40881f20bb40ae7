import { BaseCommand, described } from '../cli/base-command.ts';
import { flagsOf } from '../cli/flags.ts';
import { assertNothingElse, runImagesCommand } from '../cli/images-command.ts';
import { saving } from '../cli/plan/file.ts';
import { assertGitFolder } from '../cli/plan/for-git.ts';
import { assertPlanPlace } from '../cli/plan/shape.ts';
import { assertDiffIsText } from '../cli/plan/show.ts';
import { probing, sliceOf } from '../cli/slice.ts';
import { runPlanCommand } from '../cli/stage-command.ts';
import type { ExitName } from '../kernel/fault.ts';

export class Plan extends BaseCommand {
  static override summary = 'Show what run would do: every command and patch, in order; changes nothing';
  static override procedure = 'all';
  static override description = described(
    `Shows what changes per object, also what kubectl's own dry run hides, fields taken from other managers, and leftovers.
Then it shows the pods that restart, every command and patch in order, and the point of no return.
--diff shows each object as a unified diff instead, for a pager or a diff viewer.
-o images prints the images that the nodes will pull, one a line, for a mirror or for pulling them beforehand.
--for-git writes the merged manifests and the renamed policies, so that the next sync of Argo CD or Flux changes nothing.`,
    { when: 'After preflight, to read or to have approved what run will do; --out keeps it, and run --plan-file refuses any other.' },
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

  async run(): Promise<ExitName> {
    const { flags } = await this.parse(Plan, this.words());
    const { out, output, diff, 'for-git': forGit } = flags;
    if (diff) assertDiffIsText(output);
    // Of its own: no document has this format.
    if ((output as string) === 'images') {
      assertNothingElse(flags);
      return runImagesCommand(this.asked({ ...flags, output: 'name' }, this.typed), this.seams);
    }
    await assertPlanPlace(out);
    await assertGitFolder(forGit);
    const request = {
      ...this.asked(flags, this.typed),
      select: probing(sliceOf(flags), flags['probe-network']),
      detailedExitcode: flags['detailed-exitcode'],
    };
    return runPlanCommand(request, this.seams, { save: out === undefined ? undefined : saving(out), forGit, diff });
  }
}
