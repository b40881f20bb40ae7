import { type ExitName, Fault } from '../../kernel/fault.ts';
import { oneLine } from '../../kernel/visible.ts';
import type { Seams } from '../seams.ts';
import { type Asked, inSession, type SessionFlags } from '../session.ts';
import { stagesOf } from '../stage-command.ts';
import { assertGitFolder, assertMerged } from './for-git.ts';
import { planPlace } from './shape.ts';
import { showPlan } from './show.ts';

/** `plan`: what `run` would do, without ever acting. */
export async function runPlanCommand(asked: Asked, seams: Seams): Promise<ExitName> {
  const { out, output, diff = false, 'for-git': forGit, 'detailed-exitcode': detailed = false } = asked.flags;
  if (diff) assertDiffIsText(output);
  // Of its own: no document has this format.
  if ((output as string) === 'images') {
    assertNothingElse(asked.flags);
    return printImages({ ...asked, flags: { ...asked.flags, output: 'markdown' } }, seams);
  }
  if (out !== undefined) await planPlace(out);
  await assertGitFolder(forGit);
  const stages = await stagesOf(asked, seams);
  if (forGit !== undefined) assertMerged(stages);
  return inSession(seams, { ...asked, looksOnly: true }, (session) => showPlan(session, stages, detailed, { out, forGit, diff }));
}

/** A diff is for users and their pagers. Throws Fault('usage') naming what programs read instead. */
function assertDiffIsText(output: string): void {
  if (output === 'table' || output === 'wide') return;
  const instead =
    output === 'json' || output === 'yaml'
      ? [`leave --diff out: -o ${output} has each changed field with both values in .stages[].objects[].fields`]
      : ['leave --diff out, or -o'];
  throw new Fault('usage', `--diff writes a unified diff, which -o ${output} cannot hold`, instead);
}

/** `plan -o images`: one image a line on stdout and nothing else there; what cannot be known is said on stderr. */
async function printImages(asked: Asked, seams: Seams): Promise<ExitName> {
  return inSession(seams, { ...asked, looksOnly: true }, async (session) => {
    const [{ readInstalled }, { readTargetImages }] = await Promise.all([
      import('../../features/survey/detect.ts'),
      import('../../features/node-probe/target-images.ts'),
    ]);
    const { composition, context } = session;
    const installation = await readInstalled(composition, context);
    const { images, unknown } = await readTargetImages(composition, context, installation);
    for (const line of unknown) session.say(`Warning: ${line}`);
    seams.terminal.out(images.map((image) => `${oneLine(image)}\n`).join(''));
    return 'done';
  });
}

/** A list of images is no document: it cannot be saved as a plan or as a report, and has no files for Git. */
function assertNothingElse(flags: SessionFlags): void {
  const name = (['out', 'for-git', 'report-file'] as const).find((one) => flags[one] !== undefined);
  if (name === undefined) return;
  throw new Fault('usage', `-o images makes a list, not a document for --${name}`, [
    'send the list to a file: plan -o images > images.txt',
  ]);
}
