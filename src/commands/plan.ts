import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../cli/base-command.ts';
import { described } from '../cli/description.ts';
import { connectionFlags, ownerFlags, ownershipFlags, pendingFlags, planOutputFlags, targetFlags } from '../cli/flags.ts';
import { assertNothingElse, runImagesCommand } from '../cli/images-command.ts';
import { savePlan } from '../cli/plan/file.ts';
import { assertPlanPlace } from '../cli/plan/place.ts';
import { rangeFlags, sliceOf } from '../cli/slice.ts';
import { runPlanCommand } from '../cli/stage-command.ts';
import { quoteFor } from '../kernel/argv.ts';
import type { ExitName } from '../kernel/fault.ts';

export class Plan extends BaseCommand {
  static override summary = 'Show what run would do: every command and patch, in order; changes nothing';
  static override description = described(
    `Shows what changes per object, what kubectl's own dry run would hide, fields taken from other managers,
what is left behind, the pods that restart, every command and patch in order, and the point of no return.
-o images prints the images that the nodes will pull, one a line, for a mirror or for pulling them beforehand.`,
    'all',
    { when: 'After preflight, to read or to have approved what run will do; --out keeps it, and run --plan-file refuses any other.' },
  );
  static override examples = [
    '<%= config.bin %> plan',
    '<%= config.bin %> plan -o wide',
    '<%= config.bin %> plan -o images',
    '<%= config.bin %> plan --out plan.json && <%= config.bin %> run --plan-file plan.json',
  ];
  static override flags = {
    out: Flags.string({ helpGroup: 'output', helpValue: 'FILE', summary: 'save the plan, for run --plan-file' }),
    ...rangeFlags,
    ...pendingFlags,
    ...targetFlags,
    ...ownerFlags,
    ...ownershipFlags,
    ...planOutputFlags,
    ...connectionFlags,
  };

  async run(): Promise<ExitName> {
    const { flags } = await this.parse(Plan, this.words());
    const { out, output } = flags;
    if (output === 'images') {
      assertNothingElse(flags);
      return runImagesCommand(this.asked({ ...flags, output: 'name' }, this.typed), this.seams);
    }
    await assertPlanPlace(out);
    const request = {
      ...this.asked({ ...flags, output }, this.typed),
      select: sliceOf(flags),
      detailedExitcode: flags['detailed-exitcode'],
    };
    if (out === undefined) return runPlanCommand(request, this.seams);
    return runPlanCommand(request, this.seams, {
      place: quoteFor(process.platform, out),
      write: (document) => savePlan(out, document),
    });
  }
}
