import * as Flags from '@oclif/core/flags';
import { BaseCommand } from '../cli/base-command.ts';
import { described } from '../cli/description.ts';
import { connectionFlags, outputFlags, ownerFlags, ownershipFlags, pendingFlags, targetFlags } from '../cli/flags.ts';
import { assertPlace } from '../cli/output-place.ts';
import { savePlan } from '../cli/plan-file.ts';
import { rangeFlags, sliceOf } from '../cli/slice.ts';
import { runPlanCommand } from '../cli/stage-command.ts';
import type { ExitName } from '../core/fault.ts';

export class Plan extends BaseCommand {
  static override summary = 'Show what run would do: every command and patch, in order; changes nothing';
  static override description = described(
    `Shows what changes per object, what kubectl's own dry run would hide, fields taken from other managers,
what is left behind, every command and patch in order, and the point of no return.`,
    'all',
    { when: 'After preflight, to read or to have approved what run will do; --out keeps it, and run --plan-file refuses any other.' },
  );
  static override examples = [
    '<%= config.bin %> plan',
    '<%= config.bin %> plan -o wide',
    '<%= config.bin %> plan --out plan.json && <%= config.bin %> run --plan-file plan.json',
  ];
  static override flags = {
    out: Flags.string({ helpGroup: 'output', helpValue: 'FILE', summary: 'save the plan, for run --plan-file' }),
    ...rangeFlags,
    ...pendingFlags,
    ...targetFlags,
    ...ownerFlags,
    ...ownershipFlags,
    ...outputFlags,
    ...connectionFlags,
  };

  async run(): Promise<ExitName> {
    const { flags } = await this.parse(Plan, this.words());
    const { out } = flags;
    await assertPlace('--out', out);
    const request = { ...this.asked(flags, this.typed), select: sliceOf(flags), detailedExitcode: flags['detailed-exitcode'] };
    return runPlanCommand(request, this.seams, out === undefined ? undefined : (document) => savePlan(out, document));
  }
}
