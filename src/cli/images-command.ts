import { type ExitName, Fault } from '../kernel/fault.ts';
import { oneLine } from '../kernel/visible.ts';
import type { Seams } from './seams.ts';
import { type Asked, inSession } from './session.ts';

/** `plan -o images`: one image a line on stdout and nothing else there; what cannot be known is said on stderr. */
export async function runImagesCommand(asked: Asked, seams: Seams): Promise<ExitName> {
  return inSession(seams, { ...asked, looksOnly: true }, async (session) => {
    const [{ readInstalled }, { readTargetImages }] = await Promise.all([
      import('../features/survey/detect.ts'),
      import('../features/images/target-images.ts'),
    ]);
    const { composition, context } = session;
    const installation = await readInstalled(composition, context);
    const { images, unknown } = await readTargetImages(composition, context, installation);
    for (const line of unknown) session.say(`Warning: ${line}`);
    seams.terminal.out(images.map((image) => `${oneLine(image)}\n`).join(''));
    return 'done';
  });
}

interface Documents {
  readonly out?: string | undefined;
  readonly 'for-git'?: string | undefined;
  readonly 'report-file'?: string | undefined;
}

/** A list of images is no document: it cannot be saved as a plan or as a report, and has no files for Git. */
export function assertNothingElse(flags: Documents): void {
  const name = (['out', 'for-git', 'report-file'] as const).find((one) => flags[one] !== undefined);
  if (name === undefined) return;
  throw new Fault('usage', `-o images makes a list, not a document for --${name}`, [
    'send the list to a file: plan -o images > images.txt',
  ]);
}
